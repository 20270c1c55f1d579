#include "core/transfer/numa_probe.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/measure/place_matrix.hpp"
#include "core/transfer/chase.hpp"
#include "core/transfer/kernel_forms.hpp"
#include "core/transfer/stream.hpp"

namespace memsweep::transfer {
namespace {

constexpr std::uint64_t mib = 1U << 20;
constexpr std::uint64_t usual_array_bytes = 64 * mib;
constexpr std::uint64_t array_grain_bytes = 64U << 10;
constexpr double seconds_per_trial = 0.003;
constexpr std::size_t most_checked_chunks = 4;
constexpr double scalar = 3;
constexpr std::array<Kernel, 3> kernels{Kernel::read, Kernel::write, Kernel::copy};
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
    std::string pages{};
    PlacementProof proof{};
};

// Distances are to all nodes in their order: with some of the nodes only, none can be told.
std::optional<std::uint32_t> distance_to(const sys::NumaNode& cpu, std::size_t index, std::size_t nodes)
{
    return cpu.distances.size() == nodes ? std::optional{cpu.distances[index]} : std::nullopt;
}

void add_facts(model::CaseReport& report, const Pair& pair, const StreamArrays& arrays)
{
    set_fact(report, "array_bytes", static_cast<std::int64_t>(arrays.bytes_per_array()));
    set_fact(report, "threads", static_cast<std::int64_t>(pair.cpu.cpus.size()));
    set_fact(report, "pages", pair.pages);
    set_fact(report, "placement", pair.proof.text);
    if (pair.distance) {
        set_fact(report, "distance", std::int64_t{*pair.distance});
    }
    if (pair.proof.wrong && report.status == model::Status::ok) {
        report.status = model::Status::failed;
        report.reason = "the memory is not where it was bound to: " + pair.proof.text;
    }
}

model::CaseReport probe_kernel(const ProbeContext& context, const Pair& pair, Stream& stream, Kernel kernel)
{
    model::CaseReport report = pair_case(pair.cpu, pair.memory, model::name_of(kernel));
    report.planned_repetitions = context.settings.samples;
    const Form* const form = calibrate(stream, kernel, seconds_per_trial);
    if (form == nullptr) {
        skip(report, "no loop for this kernel");
        return report;
    }
    const std::size_t chunks = stream.chunks_for(*form, context.settings.sample_seconds / 2);
    std::string problem = stream.run_checked(*form, scalar, std::min(chunks, most_checked_chunks)).problem;
    std::vector<double> rates;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped() && problem.empty();
         ++sample) {
        const StreamRun run = stream.run(*form, scalar, chunks);
        problem = run.problem;
        rates.push_back(static_cast<double>(run.elements) * bytes_per_element(form->kernel, form->store).stream /
                        run.seconds);
    }
    if (!problem.empty()) {
        report.status = model::Status::failed;
        report.reason = problem;
    } else if (rates.empty()) {
        skip(report, "interrupted before its first sample");
        return report;
    }
    if (!rates.empty()) {
        set_values(report, "bandwidth", rates);
    }
    set_fact(report, "bytes_counted", std::string{"stream"});
    set_fact(report, "loop", describe(*form));
    return report;
}

// The chain is built in the arrays, which hold nothing that is needed any more.
model::CaseReport probe_pair_latency(const ProbeContext& context, const Pair& pair, Gang& gang, StreamArrays& arrays)
{
    model::CaseReport report = pair_case(pair.cpu, pair.memory, latency_word);
    report.planned_repetitions = context.settings.samples;
    const Chase chase{reinterpret_cast<std::byte*>(arrays.whole_a().data()),
                      {.bytes = arrays.whole_a().size_bytes(), .seed = context.settings.seed}};
    auto chain = chase.starts(1);
    std::vector<double> latencies;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        gang.run([&](std::size_t number) {
            if (number == 0) {
                latencies.push_back(latency_of(chain, context.settings.sample_seconds / 3, context.clock));
            }
        });
    }
    if (latencies.empty()) {
        skip(report, "interrupted before its first sample");
    } else {
        set_values(report, "latency", latencies);
    }
    return report;
}

bool wants_any(const ProbeContext& context, const sys::NumaNode& cpu, const sys::NumaNode& memory)
{
    const auto wants = [&](std::string_view what) { return context.wants(pair_case(cpu, memory, what).id); };
    return wants(latency_word) ||
           std::ranges::any_of(kernels, [&](Kernel kernel) { return wants(model::name_of(kernel)); });
}

template <typename Excuse>
void excuse_pair(const sys::NumaNode& cpu, const sys::NumaNode& memory, const Excuse& excuse,
                 std::vector<model::CaseReport>& cases)
{
    for (const Kernel kernel : kernels) {
        excuse(cases.emplace_back(pair_case(cpu, memory, model::name_of(kernel))));
    }
    excuse(cases.emplace_back(pair_case(cpu, memory, latency_word)));
}

base::Expected<StreamArrays> make_arrays(const ProbeContext& context, Gang& gang, const sys::NumaNode& memory,
                                         std::uint64_t bytes)
{
    StreamArrays::Spec spec{.bytes_per_array = bytes,
                            .pages = sys::PageSize::thp,
                            .node = context.binds_memory ? std::optional{memory.id} : std::nullopt,
                            .shares = gang.size()};
    auto arrays = StreamArrays::make(spec, gang);
    if (!arrays && arrays.error().code == base::ErrorCode::not_supported) {
        spec.pages = sys::PageSize::small;
        arrays = StreamArrays::make(spec, gang);
    }
    return arrays;
}

void probe_pair(const ProbeContext& context, Gang& gang, Pair pair, std::uint64_t bytes,
                std::vector<model::CaseReport>& cases)
{
    context.tell(fmt::format("numa: processors of node {}, memory of node {}", pair.cpu.id, pair.memory.id));
    auto arrays = make_arrays(context, gang, pair.memory, bytes);
    if (!arrays) {
        excuse_pair(
            pair.cpu, pair.memory, [&](model::CaseReport& report) { blame(report, arrays.error()); }, cases);
        return;
    }
    const auto got = arrays->pages_got();
    pair.pages = got ? sys::describe(*got) : "not proven: " + base::describe(got.error());
    pair.proof =
        placement_proof(arrays->pages_by_node(), context.binds_memory ? std::optional{pair.memory.id} : std::nullopt);
    Stream stream{*arrays, gang};
    for (const Kernel kernel : kernels) {
        if (context.wants(pair_case(pair.cpu, pair.memory, model::name_of(kernel)).id)) {
            cases.push_back(probe_kernel(context, pair, stream, kernel));
            add_facts(cases.back(), pair, *arrays);
        }
    }
    if (context.wants(pair_case(pair.cpu, pair.memory, latency_word).id)) {
        cases.push_back(probe_pair_latency(context, pair, gang, *arrays));
        add_facts(cases.back(), pair, *arrays);
    }
}

std::uint64_t array_bytes(const ProbeContext& context, std::optional<std::uint64_t> effective_cache)
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
    const std::uint64_t bytes = array_bytes(context, effective_cache);
    for (const sys::NumaNode& cpu : context.nodes) {
        if (cpu.cpus.empty()) {
            continue;
        }
        auto gang = Gang::start(context.clock, cpu.cpus);
        for (std::size_t i = 0; i < context.nodes.size(); ++i) {
            const sys::NumaNode& memory = context.nodes[i];
            if (memory.memory_bytes == 0 || !wants_any(context, cpu, memory)) {
                continue;
            }
            if (!gang) {
                excuse_pair(
                    cpu, memory, [&](model::CaseReport& report) { blame(report, gang.error()); }, cases);
            } else if (bytes == 0) {
                excuse_pair(
                    cpu, memory,
                    [](model::CaseReport& report) {
                        skip(report, "too little memory is left for three arrays of 64 KiB");
                    },
                    cases);
            } else {
                probe_pair(context, *gang, {cpu, memory, distance_to(cpu, i, context.nodes.size())}, bytes, cases);
            }
        }
    }
    return cases;
}

}  // namespace memsweep::transfer
