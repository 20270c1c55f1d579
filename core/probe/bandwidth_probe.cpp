#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/kernel.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_case.hpp"
#include "core/probe/stream.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::probe {
namespace {

constexpr std::size_t max_checked_chunks = 3;  // per thread
constexpr std::uint64_t least_array_bytes = 1U << 16;

struct KernelKind {
    Kernel kernel{};
    Store store{};
    bool zeroes{};  // the value that is written; else stream_scalar
    friend bool operator==(const KernelKind&, const KernelKind&) = default;
};

// In the order of the kernels' names; plain before non-temporal. Writes come once more with zeroes, which some
// processors write at another rate than all other data.
std::vector<KernelKind> kernel_kinds()
{
    std::vector<KernelKind> found;
    for (const auto& kernel : model::names<Kernel>()) {
        for (const Form* form : candidates(kernel.value)) {
            const KernelKind kind{form->kernel, form->store};
            if (std::ranges::find(found, kind) == found.end()) {
                found.push_back(kind);
                if (kind.kernel == Kernel::write) {
                    found.push_back({kind.kernel, kind.store, true});
                }
            }
        }
    }
    return found;
}

struct Running {
    KernelKind kind;
    Stream* stream{};
    const Form* form{};
    std::size_t chunks{};
    model::CaseReport report;
    std::vector<double> wall, stream_rate, payload_rate, bus_rate;

    [[nodiscard]] double scalar() const { return kind.zeroes ? 0 : stream_scalar; }
};

model::CaseReport bandwidth_case(const KernelKind& kind, std::size_t threads)
{
    std::vector<model::Param> params{{"kernel", std::string{model::name_of(kind.kernel)}},
                                     {"store", std::string{model::name_of(kind.store)}},
                                     {"threads", static_cast<std::int64_t>(threads)}};
    if (kind.zeroes) {
        params.push_back({"variant", std::string{"zeroes"}});
    }
    return new_case("probe_bandwidth", std::move(params));
}

std::vector<std::size_t> thread_counts(const sys::NumaNode& node)
{
    return node.cpus.size() == 1 ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, node.cpus.size()};
}

std::vector<KernelKind> wanted_kinds(const ProbeContext& context, std::size_t threads)
{
    std::vector<KernelKind> wanted = kernel_kinds();
    std::erase_if(wanted, [&](const KernelKind& kind) { return !context.wants(bandwidth_case(kind, threads).id); });
    return wanted;
}

template <typename Excuse>
std::vector<model::CaseReport> all_excused(const ProbeContext& context, const std::vector<std::size_t>& threads,
                                           const Excuse& excuse)
{
    std::vector<model::CaseReport> cases;
    for (const std::size_t count : threads) {
        for (const KernelKind& kind : wanted_kinds(context, count)) {
            cases.push_back(bandwidth_case(kind, count));
            excuse(cases.back());
        }
    }
    return cases;
}

// Zeroes are written by the loop that writes data beside them; nullptr where nothing does.
const Form* form_of_data(const std::vector<Running>& running, const Running& one)
{
    const KernelKind data{one.kind.kernel, one.kind.store};
    const auto beside = std::ranges::find_if(
        running, [&](const Running& other) { return other.stream == one.stream && other.kind == data; });
    return one.kind.zeroes && beside != running.end() ? beside->form : nullptr;
}

void prepare(Running& one, const Form* given, const ProbeContext& context)
{
    one.form = given != nullptr ? given : calibrate(*one.stream, one.kind.kernel, one.kind.store, seconds_per_trial);
    one.chunks = one.stream->chunks_for(*one.form, context.settings.sample_seconds);
    const StreamRun checked =
        one.stream->run_checked(*one.form, one.scalar(), std::min(one.chunks, max_checked_chunks));
    one.report.planned_repetitions = context.settings.samples;
    set_fact(one.report, "loop", describe(*one.form));
    if (!checked.problem.empty()) {
        fail(one.report, checked.problem);
    }
}

// The case before leaves its own lines in the caches, some of them modified: on a Xeon of the Granite Rapids kind, with
// arrays of 256 MiB, reads among other kernels were a tenth slower than alone. How much of that is left after this run
// was not measured.
void lead_in(Running& one)
{
    static_cast<void>(one.stream->run(*one.form, one.scalar(), std::min(one.chunks, one.stream->chunks_per_share())));
}

void take_sample(Running& one)
{
    lead_in(one);
    const StreamRun run = one.stream->run(*one.form, one.scalar(), one.chunks);
    if (!run.problem.empty()) {
        fail(one.report, run.problem);
    }
    const ElementBytes bytes = bytes_per_element(one.form->kernel, one.form->store);
    const double elements_per_second = static_cast<double>(run.elements) / run.seconds;
    one.wall.push_back(run.seconds);
    one.stream_rate.push_back(elements_per_second * bytes.stream);
    one.payload_rate.push_back(elements_per_second * bytes.payload);
    if (bytes.bus) {
        one.bus_rate.push_back(elements_per_second * *bytes.bus);
    }
}

model::CaseReport finished(Running& one)
{
    if (one.wall.empty()) {
        if (one.report.status == model::Status::ok) {
            skip_interrupted(one.report);
        }
        return std::move(one.report);
    }
    set_values(one.report, model::metrics::wall_time, one.wall);
    set_values(one.report, model::metrics::bandwidth, one.stream_rate);
    set_values(one.report, model::metrics::payload_bandwidth, one.payload_rate);
    if (!one.bus_rate.empty()) {
        set_values(one.report, model::metrics::bus_bandwidth, one.bus_rate);
    }
    return std::move(one.report);
}

void add_bandwidth_facts(model::CaseReport& report, const StreamArrays& arrays,
                         std::optional<std::uint64_t> effective_cache, const ProbeContext& context,
                         const sys::PlacementProof& proof)
{
    set_fact(report, "array_bytes", arrays.bytes_per_array());
    set_fact(report, "bytes_counted", std::string{"stream"});
    set_fact(report, "pages", proof.pages);
    set_placement(report, proof);
    set_fact(report, "llc_advertised", sys::last_level_cache_bytes(context.topology));
    if (effective_cache) {
        set_fact(report, "llc_effective", *effective_cache);
    }
    const std::string fits = !effective_cache                                       ? "unknown"
                             : arrays.bytes_per_array() * 3 <= *effective_cache * 2 ? "yes"
                                                                                    : "no";
    set_fact(report, "fits_in_llc", fits);
}

// One pool per number of threads, the largest last.
base::Expected<std::deque<sys::PinnedThreads>> start_pools(const ProbeContext& context, const sys::NumaNode& node)
{
    std::deque<sys::PinnedThreads> pools;
    for (const std::size_t count : thread_counts(node)) {
        pools.push_back(MEMSWEEP_TRY(sys::PinnedThreads::start(
            context.clock, {node.cpus.begin(), node.cpus.begin() + static_cast<std::ptrdiff_t>(count)})));
    }
    return pools;
}

std::uint64_t bandwidth_array_bytes(const ProbeContext& context, std::optional<std::uint64_t> effective_cache)
{
    return context.settings.array_bytes.value_or(memory_array_bytes(
        effective_cache, sys::last_level_cache_bytes(context.topology), context.settings.memory_budget_bytes));
}

std::string memory_refusal(std::uint64_t bytes, const ProbeContext& context)
{
    return fmt::format("three arrays of {} are more than the {} that may be used: --size makes them smaller",
                       base::exact_size(bytes),
                       base::format_size(static_cast<double>(context.settings.memory_budget_bytes)));
}

// copy and memcpy do the same, and so do write and memset.
Kernel kind_of_work(std::string_view kernel)
{
    const Kernel named = model::value_of<Kernel>(kernel).value_or(Kernel::read);
    return named == Kernel::memcpy ? Kernel::copy : named == Kernel::memset ? Kernel::write : named;
}

std::string ceiling_key(const model::CaseReport& report)
{
    std::string key;
    for (const model::Param& param : report.params) {
        if (param.name == "kernel") {
            key += model::name_of(kind_of_work(model::to_text(param.value)));
        } else if (param.name != "store") {
            key += fmt::format("/{}={}", param.name, model::to_text(param.value));
        }
    }
    return key;
}

double median_bandwidth(const model::CaseReport& report)
{
    const model::Metric* const metric = model::find_metric(report, model::metrics::bandwidth);
    return metric != nullptr && metric->summary ? metric->summary->median : 0;
}

}  // namespace

void set_ceiling_shares(std::vector<model::CaseReport>& cases)
{
    std::map<std::string, double> ceilings;
    for (const model::CaseReport& report : cases) {
        double& ceiling = ceilings[ceiling_key(report)];
        ceiling = std::max(ceiling, median_bandwidth(report));
    }
    for (model::CaseReport& report : cases) {
        const model::Metric* const bandwidth = model::find_metric(report, model::metrics::bandwidth);
        const double ceiling = ceilings[ceiling_key(report)];
        if (bandwidth == nullptr || ceiling == 0) {
            continue;
        }
        std::vector<double> shares;
        for (const double value : measure::present(bandwidth->values)) {
            shares.push_back(value / ceiling);
        }
        set_values(report, model::metrics::ceiling_share, shares);
    }
}

std::uint64_t memory_array_bytes(std::optional<std::uint64_t> effective_cache, std::uint64_t advertised_cache,
                                 std::uint64_t budget_bytes)
{
    constexpr std::uint64_t array_count = 3;
    constexpr std::uint64_t grain = 1U << 20;
    const std::uint64_t wanted = std::max({std::uint64_t{256} << 20, 4 * effective_cache.value_or(0),
                                           (2 * advertised_cache + array_count - 1) / array_count});
    const std::uint64_t allowed = budget_bytes / array_count;
    return std::min(wanted, allowed) / grain * grain;
}

std::vector<model::CaseReport> probe_bandwidth(const ProbeContext& context,
                                               std::optional<std::uint64_t> effective_cache)
{
    const sys::NumaNode* const node = first_with_cpus(context.nodes);
    const sys::NumaNode* const memory =
        node != nullptr && node->memory_bytes != 0 ? node : first_with_memory(context.nodes);
    if (node == nullptr || memory == nullptr) {
        return all_excused(context, {1}, [](model::CaseReport& report) {
            skip(report, "no node with processors and memory that this process may use");
        });
    }
    const std::uint64_t bytes = bandwidth_array_bytes(context, effective_cache);
    if (bytes < least_array_bytes || bytes > context.settings.memory_budget_bytes / 3) {
        return all_excused(context, thread_counts(*node),
                           [&](model::CaseReport& report) { skip(report, memory_refusal(bytes, context)); });
    }
    auto pools = start_pools(context, *node);
    if (!pools) {
        return all_excused(context, thread_counts(*node),
                           [&](model::CaseReport& report) { set_error(report, pools.error()); });
    }
    context.progress(fmt::format("bandwidth: touching three arrays of {}", base::exact_size(bytes)));
    sys::PinnedThreads& largest = pools->back();
    auto arrays = StreamArrays::make({.bytes_per_array = bytes,
                                      .or_small = true,
                                      .node = context.binds_memory ? std::optional{memory->id} : std::nullopt,
                                      .shares = largest.size()},
                                     largest);
    if (!arrays) {
        return all_excused(context, thread_counts(*node),
                           [&](model::CaseReport& report) { set_error(report, arrays.error()); });
    }
    const sys::PlacementProof proof = arrays->memory().prove();

    std::deque<Stream> streams;
    std::vector<Running> running;
    for (sys::PinnedThreads& pool : *pools) {
        Stream& stream = streams.emplace_back(*arrays, pool);
        if (wanted_kinds(context, pool.size()).empty()) {
            continue;
        }
        context.progress(fmt::format("bandwidth: choosing loops for {}", measure::counted(pool.size(), "thread")));
        for (const KernelKind& kind : wanted_kinds(context, pool.size())) {
            running.push_back({.kind = kind, .stream = &stream, .report = bandwidth_case(kind, pool.size())});
            if (!context.stopped()) {
                prepare(running.back(), form_of_data(running, running.back()), context);
            }
        }
    }
    context.progress(fmt::format("bandwidth: {} of {}", measure::counted(context.settings.samples, "round"),
                                 measure::counted(running.size(), "case")));
    for (std::uint32_t round = 0; round < context.settings.samples; ++round) {
        for (Running& one : running) {
            if (!context.stopped() && one.form != nullptr && one.report.status == model::Status::ok) {
                take_sample(one);
            }
        }
    }
    std::vector<model::CaseReport> cases;
    for (Running& one : running) {
        cases.push_back(finished(one));
        add_bandwidth_facts(cases.back(), *arrays, effective_cache, context, proof);
        set_fact(cases.back(), "cpus",
                 fmt::format("{}", fmt::join(std::vector<std::uint32_t>(
                                                 node->cpus.begin(), node->cpus.begin() + static_cast<std::ptrdiff_t>(
                                                                                              one.stream->threads())),
                                             ",")));
    }
    set_ceiling_shares(cases);
    return cases;
}

}  // namespace memsweep::probe
