#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/model/metric_id.hpp"
#include "core/probe/chase.hpp"
#include "core/probe/kernel.hpp"
#include "core/probe/probe_case.hpp"
#include "core/probe/stream.hpp"

namespace memsweep::probe {
namespace {

constexpr std::uint64_t usual_array_bytes = 64U << 20;
constexpr std::uint64_t array_grain_bytes = 64U << 10;
constexpr std::size_t max_checked_pair_chunks = 4;
constexpr std::array<Kernel, 3> pair_kernels{Kernel::read, Kernel::write, Kernel::copy};
constexpr std::string_view latency_word = "latency";

model::CaseReport pair_case(const sys::NumaNode& cpu, const sys::NumaNode& memory, std::string_view what)
{
    return new_case("probe_numa", {{std::string{measure::cpu_node_param}, std::int64_t{cpu.id}},
                                   {std::string{measure::mem_node_param}, std::int64_t{memory.id}},
                                   {"kernel", std::string{what}}});
}

struct Pair {
    const sys::NumaNode& cpu;
    const sys::NumaNode& memory;
    std::optional<std::uint32_t> distance;  // as the firmware tells it: 10 is local
    sys::PlacementProof proof{};
};

// Distances are given for all nodes in their order; where only some nodes are measured, they cannot be assigned.
std::optional<std::uint32_t> distance_to(const sys::NumaNode& cpu, std::size_t index, std::size_t nodes)
{
    return cpu.distances.size() == nodes ? std::optional{cpu.distances[index]} : std::nullopt;
}

void add_pair_facts(model::CaseReport& report, const Pair& pair, const StreamArrays& arrays)
{
    set_fact(report, "array_bytes", arrays.bytes_per_array());
    set_fact(report, "threads", pair.cpu.cpus.size());
    set_fact(report, "pages", pair.proof.pages);
    set_placement(report, pair.proof);
    if (pair.distance) {
        set_fact(report, "distance", *pair.distance);
    }
}

model::CaseReport probe_kernel(const ProbeContext& context, const Pair& pair, Stream& stream, Kernel kernel)
{
    model::CaseReport report = pair_case(pair.cpu, pair.memory, model::name_of(kernel));
    report.planned_repetitions = context.settings.samples;
    const Form* const form = calibrate(stream, kernel, std::nullopt, seconds_per_trial);
    if (form == nullptr) {
        skip(report, "no loop for this kernel");
        return report;
    }
    const std::size_t chunks = stream.chunks_for(*form, context.settings.sample_seconds / 2);
    std::string problem = stream.run_checked(*form, stream_scalar, std::min(chunks, max_checked_pair_chunks)).problem;
    std::vector<double> rates;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped() && problem.empty();
         ++sample) {
        const StreamRun run = stream.run(*form, stream_scalar, chunks);
        problem = run.problem;
        rates.push_back(static_cast<double>(run.elements) * bytes_per_element(form->kernel, form->store).stream /
                        run.seconds);
    }
    if (!problem.empty()) {
        fail(report, problem);
    } else if (rates.empty()) {
        skip_interrupted(report);
        return report;
    }
    if (!rates.empty()) {
        set_values(report, model::metrics::bandwidth, rates);
    }
    set_fact(report, "bytes_counted", std::string{"stream"});
    set_fact(report, "loop", describe(*form));
    return report;
}

// The chain is built in the arrays, which hold nothing that is needed any more.
model::CaseReport probe_pair_latency(const ProbeContext& context, const Pair& pair, sys::PinnedThreads& pool,
                                     StreamArrays& arrays)
{
    model::CaseReport report = pair_case(pair.cpu, pair.memory, latency_word);
    report.planned_repetitions = context.settings.samples;
    const Chase chase{reinterpret_cast<std::byte*>(arrays.whole_a().data()),
                      {.bytes = arrays.whole_a().size_bytes(), .seed = context.settings.seed}};
    auto chain = chase.starts(1);
    std::vector<double> latencies;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        pool.run([&](std::size_t number) {
            if (number == 0) {
                latencies.push_back(latency_of(chain, context.settings.sample_seconds / 3, context.clock));
            }
        });
    }
    set_samples(report, model::metrics::latency, latencies);
    return report;
}

bool wants_any(const ProbeContext& context, const sys::NumaNode& cpu, const sys::NumaNode& memory)
{
    const auto wants = [&](std::string_view what) { return context.wants(pair_case(cpu, memory, what).id); };
    return wants(latency_word) ||
           std::ranges::any_of(pair_kernels, [&](Kernel kernel) { return wants(model::name_of(kernel)); });
}

template <typename Excuse>
void excuse_pair(const sys::NumaNode& cpu, const sys::NumaNode& memory, const Excuse& excuse,
                 std::vector<model::CaseReport>& cases)
{
    for (const Kernel kernel : pair_kernels) {
        excuse(cases.emplace_back(pair_case(cpu, memory, model::name_of(kernel))));
    }
    excuse(cases.emplace_back(pair_case(cpu, memory, latency_word)));
}

void probe_pair(const ProbeContext& context, sys::PinnedThreads& pool, Pair pair, std::uint64_t bytes,
                std::vector<model::CaseReport>& cases)
{
    context.progress(fmt::format("numa: processors of node {}, memory of node {}", pair.cpu.id, pair.memory.id));
    auto arrays = StreamArrays::make({.bytes_per_array = bytes,
                                      .or_small = true,
                                      .node = context.binds_memory ? std::optional{pair.memory.id} : std::nullopt,
                                      .shares = pool.size()},
                                     pool);
    if (!arrays) {
        excuse_pair(
            pair.cpu, pair.memory, [&](model::CaseReport& report) { set_error(report, arrays.error()); }, cases);
        return;
    }
    pair.proof = arrays->memory().prove();
    Stream stream{*arrays, pool};
    for (const Kernel kernel : pair_kernels) {
        if (context.wants(pair_case(pair.cpu, pair.memory, model::name_of(kernel)).id)) {
            cases.push_back(probe_kernel(context, pair, stream, kernel));
            add_pair_facts(cases.back(), pair, *arrays);
        }
    }
    if (context.wants(pair_case(pair.cpu, pair.memory, latency_word).id)) {
        cases.push_back(probe_pair_latency(context, pair, pool, *arrays));
        add_pair_facts(cases.back(), pair, *arrays);
    }
}

std::uint64_t pair_array_bytes(const ProbeContext& context, std::optional<std::uint64_t> effective_cache)
{
    const std::uint64_t wanted =
        context.settings.array_bytes.value_or(std::max(usual_array_bytes, 4 * effective_cache.value_or(0)));
    std::uint64_t allowed = context.settings.memory_budget_bytes;
    for (const sys::NumaNode& node : context.nodes) {
        allowed = node.memory_bytes != 0 ? std::min(allowed, node.memory_bytes / 4) : allowed;
    }
    return std::min(wanted, allowed / 3) / array_grain_bytes * array_grain_bytes;
}

}  // namespace

std::vector<model::CaseReport> probe_numa(const ProbeContext& context, std::optional<std::uint64_t> effective_cache)
{
    std::vector<model::CaseReport> cases;
    const std::uint64_t bytes = pair_array_bytes(context, effective_cache);
    for (const sys::NumaNode& cpu : context.nodes) {
        if (cpu.cpus.empty()) {
            continue;
        }
        auto pool = sys::PinnedThreads::start(context.clock, cpu.cpus);
        for (std::size_t i = 0; i < context.nodes.size(); ++i) {
            const sys::NumaNode& memory = context.nodes[i];
            if (memory.memory_bytes == 0 || !wants_any(context, cpu, memory)) {
                continue;
            }
            if (!pool) {
                excuse_pair(
                    cpu, memory, [&](model::CaseReport& report) { set_error(report, pool.error()); }, cases);
            } else if (bytes == 0) {
                excuse_pair(
                    cpu, memory,
                    [](model::CaseReport& report) {
                        skip(report, "too little memory is left for three arrays of 64 KiB");
                    },
                    cases);
            } else {
                probe_pair(context, *pool, {cpu, memory, distance_to(cpu, i, context.nodes.size())}, bytes, cases);
            }
        }
    }
    return cases;
}

}  // namespace memsweep::probe
