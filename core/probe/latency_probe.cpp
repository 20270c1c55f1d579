#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/chase.hpp"
#include "core/probe/kernel.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_case.hpp"
#include "core/probe/stream.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::probe {
namespace {

constexpr std::uint64_t kib = 1U << 10;
constexpr std::uint64_t mib = 1U << 20;
constexpr std::array<std::uint64_t, 11> latency_sets{16 * kib, 64 * kib, 256 * kib, mib,      2 * mib,  4 * mib,
                                                     8 * mib,  16 * mib, 32 * mib,  64 * mib, 256 * mib};
constexpr std::array<model::PageKind, 4> latency_pages{model::PageKind::small, model::PageKind::thp,
                                                       model::PageKind::huge_2m, model::PageKind::huge_1g};
constexpr std::array<std::int64_t, 4> loads_percent{0, 25, 50, 100};
constexpr std::uint64_t traffic_bytes_per_array = 64 * mib;
constexpr std::uint64_t smallest_cache_set = mib;
constexpr std::uint64_t largest_cache_set = 128 * mib;
constexpr double seconds_per_cache_set = 0.01;
constexpr std::uint64_t many_chains_set = 128 * mib;  // building a chain of it takes a quarter of a second

double latency_seconds(const ProbeContext& context)
{
    return context.settings.sample_seconds / 3;
}

model::CaseReport set_case(model::PageKind pages, std::uint64_t bytes)
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

base::Expected<sys::PlacedMemory> map_latency_memory(const ProbeContext& context, model::PageKind pages,
                                                     std::uint64_t bytes, bool or_small = false)
{
    const sys::NumaNode* const node = first_with_memory(context.nodes);
    return sys::PlacedMemory::touched(
        {.bytes = bytes,
         .pages = pages,
         .or_small = or_small,
         .node = context.binds_memory && node != nullptr ? std::optional{node->id} : std::nullopt});
}

void add_memory_facts(model::CaseReport& report, const sys::PlacementProof& proof)
{
    set_fact(report, "pages_got", proof.pages);
    set_placement(report, proof);
}

void set_latencies(model::CaseReport& report, const std::vector<double>& latencies, const ProbeContext& context)
{
    report.planned_repetitions = context.settings.samples;
    set_samples(report, model::metrics::latency, latencies);
}

// Each sample follows the chains on from where the one before stopped.
std::vector<double> follow_samples(const ProbeContext& context, sys::PinnedThreads& pool, std::vector<void**> chains)
{
    std::vector<double> latencies;
    const double seconds = latency_seconds(context);
    pool.run([&](std::size_t /*number*/) { static_cast<void>(latency_of(chains, seconds, context.clock)); });
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        pool.run([&](std::size_t /*number*/) { latencies.push_back(latency_of(chains, seconds, context.clock)); });
    }
    return latencies;
}

void probe_sets(const ProbeContext& context, sys::PinnedThreads& pool, model::PageKind pages, std::uint64_t largest,
                std::vector<model::CaseReport>& cases)
{
    if (std::ranges::none_of(latency_sets,
                             [&](std::uint64_t bytes) { return context.wants(set_case(pages, bytes).id); })) {
        return;
    }
    context.progress(
        fmt::format("latency: working sets up to {} on {} pages", base::exact_size(largest), page_word(pages)));
    const auto memory = map_latency_memory(context, pages, largest);
    const sys::PlacementProof proof = memory ? memory->prove() : sys::PlacementProof{};
    for (const std::uint64_t bytes : latency_sets) {
        if (!context.wants(set_case(pages, bytes).id)) {
            continue;
        }
        model::CaseReport& report = cases.emplace_back(set_case(pages, bytes));
        if (!memory) {
            set_error(report, memory.error());
        } else if (bytes > memory->size()) {
            skip(report, fmt::format("needs {} of memory, {} may be used", base::exact_size(bytes),
                                     base::format_size(static_cast<double>(context.settings.memory_budget_bytes))));
        } else if (context.stopped()) {
            skip_interrupted(report);
        } else {
            const Chase chase{memory->data(), {.bytes = bytes, .seed = context.settings.seed}};
            set_latencies(report, follow_samples(context, pool, chase.starts(1)), context);
            add_memory_facts(report, proof);
        }
    }
}

// On huge pages where there are any: with the fewest TLB misses, the loads themselves are what is measured.
base::Expected<sys::PlacedMemory> map_on_huge_pages(const ProbeContext& context, std::uint64_t bytes)
{
    return map_latency_memory(context, model::PageKind::thp, bytes, true);
}

// `chase` is there where `memory` is.
void probe_chains(const ProbeContext& context, sys::PinnedThreads& pool,
                  const base::Expected<sys::PlacedMemory>& memory, const std::optional<Chase>& chase,
                  std::vector<model::CaseReport>& cases)
{
    context.progress("latency: several chains at once");
    const sys::PlacementProof proof = memory ? memory->prove() : sys::PlacementProof{};
    for (const std::size_t chains : chain_counts()) {
        model::CaseReport& report = cases.emplace_back(chains_case(chains));
        if (!memory) {
            set_error(report, memory.error());
            continue;
        }
        const std::vector<double> latencies = follow_samples(context, pool, chase->starts(chains));
        set_latencies(report, latencies, context);
        std::vector<double> rates;
        for (const double latency : latencies) {
            constexpr double bytes_per_load = 64;  // a whole line
            rates.push_back(bytes_per_load * static_cast<double>(chains) / latency);
        }
        if (!rates.empty()) {
            set_values(report, model::metrics::bandwidth, rates);
            set_fact(report, "bytes_counted", std::string{"whole lines"});
        }
        add_memory_facts(report, proof);
    }
}

struct Traffic {
    double latency{};
    double bytes_per_second{};
};

// Thread 0 follows a chain; the others stream for that share of their time.
Traffic loaded_sample(const ProbeContext& context, sys::PinnedThreads& pool, std::vector<void**>& chain,
                      const StreamArrays& arrays, const Form& form, double share)
{
    std::atomic<bool> done{};
    std::atomic<std::uint64_t> elements{};
    Traffic traffic;
    const auto time = pool.run([&](std::size_t number) {
        if (number == 0) {
            traffic.latency = latency_of(chain, 2 * latency_seconds(context), context.clock);
            done.store(true, std::memory_order_relaxed);
            return;
        }
        const std::size_t per_thread = std::max<std::size_t>(arrays.chunks() / (pool.size() - 1), 1);
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
    traffic.bytes_per_second = static_cast<double>(elements.load() * bytes.stream) / sys::seconds_of(time);
    return traffic;
}

void excuse_loads(const std::string& reason, std::vector<model::CaseReport>& cases)
{
    for (const std::int64_t percent : loads_percent) {
        skip(cases.emplace_back(load_case(percent)), reason);
    }
}

void probe_loaded(const ProbeContext& context, const sys::NumaNode& node,
                  const base::Expected<sys::PlacedMemory>& memory, const std::optional<Chase>& chase,
                  std::vector<model::CaseReport>& cases)
{
    if (node.cpus.size() < 2) {
        excuse_loads("needs a second processor to stream while the first one waits for its loads", cases);
        return;
    }
    auto pool = sys::PinnedThreads::start(context.clock, node.cpus);
    const Form* const form = simplest_form(Kernel::read, Store::none);
    if (!memory || !pool || form == nullptr) {
        excuse_loads(!memory ? base::describe(memory.error())
                     : !pool ? base::describe(pool.error())
                             : "no loop",
                     cases);
        return;
    }
    const std::uint64_t bytes = std::min(traffic_bytes_per_array, context.settings.memory_budget_bytes / 8);
    auto arrays =
        StreamArrays::make({.bytes_per_array = bytes, .pages = memory->pages(), .shares = node.cpus.size() - 1}, *pool);
    if (!arrays) {
        excuse_loads(base::describe(arrays.error()), cases);
        return;
    }
    context.progress("latency: while other processors stream");
    const sys::PlacementProof proof = memory->prove();
    for (const std::int64_t percent : loads_percent) {
        model::CaseReport& report = cases.emplace_back(load_case(percent));
        auto chain = chase->starts(1);
        std::vector<double> latencies;
        std::vector<double> rates;
        for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
            const Traffic traffic =
                loaded_sample(context, *pool, chain, *arrays, *form, static_cast<double>(percent) / 100);
            latencies.push_back(traffic.latency);
            rates.push_back(traffic.bytes_per_second);
        }
        set_latencies(report, latencies, context);
        if (!rates.empty()) {
            set_values(report, model::metrics::bandwidth, rates);
            set_fact(report, "bytes_counted", std::string{"stream, of the other processors"});
            set_fact(report, "streaming_processors", pool->size() - 1);
        }
        add_memory_facts(report, proof);
    }
}

std::uint64_t largest_latency_set(const ProbeContext& context)
{
    std::uint64_t largest = latency_sets.front();
    for (const std::uint64_t bytes : latency_sets) {
        largest = bytes <= context.settings.memory_budget_bytes / 2 ? std::max(largest, bytes) : largest;
    }
    return largest;
}

}  // namespace

std::vector<model::CaseReport> probe_latency(const ProbeContext& context)
{
    std::vector<model::CaseReport> cases;
    const sys::NumaNode* const node = first_with_cpus(context.nodes);
    auto pool = node == nullptr
                    ? base::Expected<sys::PinnedThreads>{base::fail(
                          base::ErrorCode::not_supported, "no node with processors that this process may use")}
                    : sys::PinnedThreads::start(context.clock, {node->cpus.front()});
    if (!pool) {
        for (const std::uint64_t bytes : latency_sets) {
            set_error(cases.emplace_back(set_case(model::PageKind::small, bytes)), pool.error());
        }
        return cases;
    }
    const std::uint64_t largest = largest_latency_set(context);
    for (const model::PageKind pages : latency_pages) {
        probe_sets(context, *pool, pages, largest, cases);
    }
    const bool chains =
        std::ranges::any_of(chain_counts(), [&](std::size_t count) { return context.wants(chains_case(count).id); });
    const bool loads =
        std::ranges::any_of(loads_percent, [&](std::int64_t load) { return context.wants(load_case(load).id); });
    if (chains || loads) {
        const auto memory = map_on_huge_pages(context, std::min(largest, many_chains_set));
        std::optional<Chase> chase;
        if (memory) {
            chase.emplace(memory->data(), ChaseSpec{.bytes = memory->size(), .seed = context.settings.seed});
        }
        if (chains) {
            probe_chains(context, *pool, memory, chase, cases);
        }
        if (loads) {
            probe_loaded(context, *node, memory, chase, cases);
        }
    }
    return cases;
}

std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases)
{
    for (const model::PageKind pages : {model::PageKind::thp, model::PageKind::small}) {
        std::vector<SetLatency> found;
        for (const std::uint64_t bytes : latency_sets) {
            const auto report = std::ranges::find(cases, set_case(pages, bytes).id, &model::CaseReport::id);
            const model::Metric* const metric =
                report == cases.end() ? nullptr : model::find_metric(*report, model::metrics::latency);
            if (metric != nullptr && metric->summary) {
                found.push_back({bytes, metric->summary->min});  // other work only ever adds to it
            }
        }
        if (!found.empty()) {
            return found;
        }
    }
    return {};
}

std::optional<std::uint64_t> effective_cache_bytes(const std::vector<SetLatency>& by_size)
{
    if (by_size.empty()) {
        return std::nullopt;
    }
    const auto largest = std::ranges::max_element(by_size, {}, &SetLatency::bytes);
    std::optional<std::uint64_t> found;
    for (const SetLatency& set : by_size) {
        if (set.seconds < largest->seconds / 2) {
            found = std::max(found.value_or(0), set.bytes);
        }
    }
    return found;
}

std::optional<std::uint64_t> measure_effective_cache(const ProbeContext& context)
{
    const sys::NumaNode* const node = first_with_cpus(context.nodes);
    const std::uint64_t bytes =
        std::min(largest_cache_set, context.settings.memory_budget_bytes / 2 / smallest_cache_set * smallest_cache_set);
    if (node == nullptr || bytes <= smallest_cache_set) {
        return std::nullopt;
    }
    auto pool = sys::PinnedThreads::start(context.clock, {node->cpus.front()});
    auto memory =
        sys::PlacedMemory::touched({.bytes = bytes, .pages = model::PageKind::thp, .or_small = true, .node = {}});
    if (!pool || !memory) {
        return std::nullopt;
    }
    std::vector<SetLatency> found;
    for (std::uint64_t set = smallest_cache_set; set <= bytes && !context.stopped(); set *= 2) {
        const Chase chase{memory->data(), {.bytes = set, .seed = context.settings.seed}};
        auto starts = chase.starts(1);
        double seconds{};
        pool->run([&](std::size_t /*number*/) {
            static_cast<void>(latency_of(starts, seconds_per_cache_set / 2, context.clock));
            seconds = latency_of(starts, seconds_per_cache_set, context.clock);
        });
        found.push_back({set, seconds});
    }
    return effective_cache_bytes(found);
}

}  // namespace memsweep::probe
