#include "core/transfer/latency_probe.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/mapped_pages.hpp"
#include "core/sys/page_ops.hpp"
#include "core/transfer/chase.hpp"
#include "core/transfer/kernel_forms.hpp"
#include "core/transfer/stream_arrays.hpp"

namespace memsweep::transfer {
namespace {

constexpr std::uint64_t kib = 1U << 10;
constexpr std::uint64_t mib = 1U << 20;
constexpr std::array<std::uint64_t, 11> sets{16 * kib, 64 * kib, 256 * kib, mib,      2 * mib,  4 * mib,
                                             8 * mib,  16 * mib, 32 * mib,  64 * mib, 256 * mib};
constexpr std::array<std::int64_t, 4> loads_percent{0, 25, 50, 100};
constexpr std::uint64_t traffic_bytes_per_array = 64 * mib;
constexpr std::uint64_t many_chains_set = 128 * mib;  // building a chain of it takes a quarter of a second

double sample_seconds(const ProbeContext& context)
{
    return context.settings.sample_seconds / 3;
}

std::string page_word(sys::PageSize pages)
{
    return std::string{model::name_of(pages)};
}

model::CaseReport set_case(sys::PageSize pages, std::uint64_t bytes)
{
    return new_case("probe_latency", {{"pages", page_word(pages)}, {"size", static_cast<std::int64_t>(bytes)}});
}

model::CaseReport chains_case(std::size_t chains)
{
    return new_case("probe_parallel_loads", {{"chains", static_cast<std::int64_t>(chains)}});
}

model::CaseReport load_case(std::int64_t percent)
{
    return new_case("probe_loaded_latency", {{"load", percent}});
}

// Touched, bound where that is needed, with what the kernel says of it.
struct Ground {
    sys::PagedMemory memory;
    std::string pages;
    PlacementProof proof;
};

base::Expected<Ground> make_ground(const ProbeContext& context, sys::PageSize pages, std::uint64_t bytes)
{
    auto memory = sys::PagedMemory::map(bytes, pages);
    if (!memory) {
        return base::fail(memory.error());
    }
    const sys::NumaNode* const node = first_with_memory(context.nodes);
    std::optional<std::uint32_t> asked;
    if (context.binds_memory && node != nullptr) {
        asked = node->id;
        if (auto bound = sys::bind_to_node(memory->data(), memory->size(), *asked); !bound) {
            return base::fail(bound.error());
        }
    }
    sys::touch_pages(memory->data(), memory->size());
    const auto got = sys::pages_got(memory->data(), memory->size());
    Ground ground{*std::move(memory), got ? sys::describe(*got) : "not proven: " + base::describe(got.error()), {}};
    ground.proof = placement_proof(sys::pages_by_node(ground.memory.data(), ground.memory.size()), asked);
    return ground;
}

void add_facts(model::CaseReport& report, const Ground& ground)
{
    set_fact(report, "pages_got", ground.pages);
    set_fact(report, "placement", ground.proof.text);
    if (ground.proof.wrong) {
        report.status = model::Status::failed;
        report.reason = "the memory is not where it was bound to: " + ground.proof.text;
    }
}

void set_latencies(model::CaseReport& report, const std::vector<double>& latencies, const ProbeContext& context)
{
    report.planned_repetitions = context.settings.samples;
    if (latencies.empty()) {
        skip(report, "interrupted before its first sample");
        return;
    }
    set_values(report, "latency", latencies);
}

// Samples of chains that go on where the one before stopped.
std::vector<double> follow_samples(const ProbeContext& context, Gang& gang, std::vector<void**> chains)
{
    std::vector<double> latencies;
    const double seconds = sample_seconds(context);
    gang.run([&](std::size_t /*number*/) { static_cast<void>(latency_of(chains, seconds, context.clock)); });
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        gang.run([&](std::size_t /*number*/) { latencies.push_back(latency_of(chains, seconds, context.clock)); });
    }
    return latencies;
}

void probe_sets(const ProbeContext& context, Gang& gang, sys::PageSize pages, std::uint64_t largest,
                std::vector<model::CaseReport>& cases)
{
    if (std::ranges::none_of(sets, [&](std::uint64_t bytes) { return context.wants(set_case(pages, bytes).id); })) {
        return;
    }
    context.tell(
        fmt::format("latency: working sets up to {} on {} pages", base::exact_size(largest), page_word(pages)));
    const auto ground = make_ground(context, pages, largest);
    for (const std::uint64_t bytes : sets) {
        if (!context.wants(set_case(pages, bytes).id)) {
            continue;
        }
        model::CaseReport& report = cases.emplace_back(set_case(pages, bytes));
        if (!ground) {
            blame(report, ground.error());
        } else if (bytes > ground->memory.size()) {
            skip(report, fmt::format("needs {} of memory, {} may be used", base::exact_size(bytes),
                                     base::format_size(static_cast<double>(context.settings.memory_budget_bytes))));
        } else if (context.stopped()) {
            skip(report, "interrupted before its first sample");
        } else {
            const Chase chase{ground->memory.data(), {.bytes = bytes, .seed = context.settings.seed}};
            set_latencies(report, follow_samples(context, gang, chase.starts(1)), context);
            add_facts(report, *ground);
        }
    }
}

// On the pages that have the fewest misses of translation, so that the loads themselves are what is told.
base::Expected<Ground> best_ground(const ProbeContext& context, std::uint64_t bytes)
{
    auto ground = make_ground(context, sys::PageSize::thp, bytes);
    if (!ground && ground.error().code == base::ErrorCode::not_supported) {
        ground = make_ground(context, sys::PageSize::small, bytes);
    }
    return ground;
}

// `chase` is there where `ground` is.
void probe_chains(const ProbeContext& context, Gang& gang, const base::Expected<Ground>& ground,
                  const std::optional<Chase>& chase, std::vector<model::CaseReport>& cases)
{
    context.tell("latency: several chains at once");
    for (const std::size_t chains : chain_counts()) {
        model::CaseReport& report = cases.emplace_back(chains_case(chains));
        if (!ground) {
            blame(report, ground.error());
            continue;
        }
        const std::vector<double> latencies = follow_samples(context, gang, chase->starts(chains));
        set_latencies(report, latencies, context);
        std::vector<double> rates;
        for (const double latency : latencies) {
            constexpr double line_bytes = 64;
            rates.push_back(line_bytes * static_cast<double>(chains) / latency);
        }
        if (!rates.empty()) {
            set_values(report, "bandwidth", rates);
            set_fact(report, "bytes_counted", std::string{"whole lines"});
        }
        add_facts(report, *ground);
    }
}

struct Traffic {
    double latency{};
    double bytes_per_second{};
};

// Thread 0 follows a chain; the others stream for that share of their time.
Traffic loaded_sample(const ProbeContext& context, Gang& gang, std::vector<void**>& chain, const StreamArrays& arrays,
                      const Form& form, double share)
{
    std::atomic<bool> done{};
    std::atomic<std::uint64_t> elements{};
    Traffic traffic;
    const auto time = gang.run([&](std::size_t number) {
        if (number == 0) {
            traffic.latency = latency_of(chain, 2 * sample_seconds(context), context.clock);
            done.store(true, std::memory_order_relaxed);
            return;
        }
        const std::size_t per_thread = std::max<std::size_t>(arrays.chunks() / (gang.size() - 1), 1);
        std::uint64_t mine = 0;
        for (std::size_t turn = 0; share > 0 && !done.load(std::memory_order_relaxed); ++turn) {
            const auto begin = context.clock.now();
            const std::size_t chunk = ((number - 1) * per_thread + turn % per_thread) % arrays.chunks();
            static_cast<void>(form.run(arrays.chunk(chunk)));
            mine += arrays.chunk_elements();
            const auto took = context.clock.now() - begin;
            const auto until =
                begin + std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<double>(took.count()) / share)};
            while (share < 1 && context.clock.now() < until && !done.load(std::memory_order_relaxed)) {
            }
        }
        elements.fetch_add(mine, std::memory_order_relaxed);
    });
    const ElementBytes bytes = bytes_per_element(form.kernel, form.store);
    traffic.bytes_per_second =
        static_cast<double>(elements.load() * bytes.stream) / std::chrono::duration<double>(time).count();
    return traffic;
}

void excuse_loads(const std::string& reason, std::vector<model::CaseReport>& cases)
{
    for (const std::int64_t percent : loads_percent) {
        skip(cases.emplace_back(load_case(percent)), reason);
    }
}

void probe_loaded(const ProbeContext& context, const sys::NumaNode& node, const base::Expected<Ground>& ground,
                  const std::optional<Chase>& chase, std::vector<model::CaseReport>& cases)
{
    if (node.cpus.size() < 2) {
        excuse_loads("needs a second processor to stream while the first one waits for its loads", cases);
        return;
    }
    auto gang = Gang::start(context.clock, node.cpus);
    const Form* const form = simplest_form(Kernel::read, Store::none);
    if (!ground || !gang || form == nullptr) {
        excuse_loads(!ground ? base::describe(ground.error())
                     : !gang ? base::describe(gang.error())
                             : "no loop",
                     cases);
        return;
    }
    const std::uint64_t bytes = std::min(traffic_bytes_per_array, context.settings.memory_budget_bytes / 8);
    auto arrays = StreamArrays::make(
        {.bytes_per_array = bytes, .pages = ground->memory.pages(), .shares = node.cpus.size() - 1}, *gang);
    if (!arrays) {
        excuse_loads(base::describe(arrays.error()), cases);
        return;
    }
    context.tell("latency: while other processors stream");
    for (const std::int64_t percent : loads_percent) {
        model::CaseReport& report = cases.emplace_back(load_case(percent));
        auto chain = chase->starts(1);
        std::vector<double> latencies;
        std::vector<double> rates;
        for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
            const Traffic traffic =
                loaded_sample(context, *gang, chain, *arrays, *form, static_cast<double>(percent) / 100);
            latencies.push_back(traffic.latency);
            rates.push_back(traffic.bytes_per_second);
        }
        set_latencies(report, latencies, context);
        if (!rates.empty()) {
            set_values(report, "bandwidth", rates);
            set_fact(report, "bytes_counted", std::string{"stream, of the other processors"});
            set_fact(report, "streaming_processors", static_cast<std::int64_t>(gang->size() - 1));
        }
        add_facts(report, *ground);
    }
}

std::uint64_t largest_set(const ProbeContext& context)
{
    std::uint64_t largest = sets.front();
    for (const std::uint64_t bytes : sets) {
        largest = bytes <= context.settings.memory_budget_bytes / 2 ? std::max(largest, bytes) : largest;
    }
    return largest;
}

}  // namespace

std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases)
{
    for (const sys::PageSize pages : {sys::PageSize::thp, sys::PageSize::small}) {
        std::vector<SetLatency> found;
        for (const std::uint64_t bytes : sets) {
            const auto report = std::ranges::find(cases, set_case(pages, bytes).id, &model::CaseReport::id);
            const model::Metric* const metric =
                report == cases.end() ? nullptr : model::find_metric(*report, "latency");
            if (metric != nullptr && metric->summary) {
                found.push_back({bytes, metric->summary->median});
            }
        }
        if (!found.empty()) {
            return found;
        }
    }
    return {};
}

std::vector<model::CaseReport> probe_latency(const ProbeContext& context)
{
    std::vector<model::CaseReport> cases;
    const sys::NumaNode* const node = first_with_cpus(context.nodes);
    auto gang = node == nullptr ? base::Expected<Gang>{base::fail(base::ErrorCode::not_supported,
                                                                  "no node with processors that this process may use")}
                                : Gang::start(context.clock, {node->cpus.front()});
    if (!gang) {
        for (const std::uint64_t bytes : sets) {
            blame(cases.emplace_back(set_case(sys::PageSize::small, bytes)), gang.error());
        }
        return cases;
    }
    const std::uint64_t largest = largest_set(context);
    for (const auto& pages : model::names<sys::PageSize>()) {
        probe_sets(context, *gang, pages.value, largest, cases);
    }
    const bool chains =
        std::ranges::any_of(chain_counts(), [&](std::size_t count) { return context.wants(chains_case(count).id); });
    const bool loads =
        std::ranges::any_of(loads_percent, [&](std::int64_t load) { return context.wants(load_case(load).id); });
    if (chains || loads) {
        const auto ground = best_ground(context, std::min(largest, many_chains_set));
        std::optional<Chase> chase;
        if (ground) {
            chase.emplace(ground->memory.data(),
                          ChaseSpec{.bytes = ground->memory.size(), .seed = context.settings.seed});
        }
        if (chains) {
            probe_chains(context, *gang, ground, chase, cases);
        }
        if (loads) {
            probe_loaded(context, *node, ground, chase, cases);
        }
    }
    return cases;
}

}  // namespace memsweep::transfer
