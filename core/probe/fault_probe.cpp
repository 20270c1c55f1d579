#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "core/model/metric_id.hpp"
#include "core/probe/probe_case.hpp"
#include "core/sys/machine_measures.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::probe {
namespace {

constexpr std::uint64_t cold_bytes = 64U << 20;
constexpr std::chrono::milliseconds cold_time{500};

model::CaseReport fault_case(std::string_view kind, std::string_view pages)
{
    return new_case("probe_faults", {{"kind", std::string{kind}}, {"pages", std::string{pages}}});
}

struct FaultCase {
    sys::FaultKind kind;
    std::string_view name;
    std::string_view pages;
};
constexpr std::array<FaultCase, 4> fault_cases{{
    {sys::FaultKind::small_page, "first_touch", "4k"},
    {sys::FaultKind::huge_page, "first_touch", "thp"},
    {sys::FaultKind::shared_page, "shared_first_touch", "4k"},
    {sys::FaultKind::shared_again, "shared_refault", "4k"},
}};

void set_fault_times(model::CaseReport& report, const std::vector<double>& seconds, std::uint64_t page_bytes)
{
    if (set_samples(report, model::metrics::time_per_fault, seconds)) {
        set_fact(report, "page_bytes", page_bytes);
    }
}

model::CaseReport probe_kind(const ProbeContext& context, const FaultCase& kind)
{
    model::CaseReport report = fault_case(kind.name, kind.pages);
    report.planned_repetitions = context.settings.samples;
    std::vector<double> seconds;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        const auto cost = sys::measure_fault_cost(context.clock, kind.kind);
        if (!cost) {
            set_error(report, cost.error());
            return report;
        }
        seconds.push_back(cost->seconds_per_fault);
    }
    const bool huge = kind.kind == sys::FaultKind::huge_page;
    set_fault_times(report, seconds, sys::bytes_of(huge ? model::PageKind::thp : model::PageKind::small));
    return report;
}

double fill_seconds(const sys::Clock& clock, std::byte* data, std::uint64_t bytes, int value)
{
    const auto begin = clock.now();
    std::memset(data, value, bytes);
    asm volatile("" ::"r"(data) : "memory");
    return sys::seconds_of(clock.now() - begin);
}

model::CaseReport probe_reserved(const ProbeContext& context, model::PageKind pages)
{
    model::CaseReport report = fault_case("first_touch", page_word(pages));
    report.planned_repetitions = context.settings.samples;
    const std::uint64_t bytes = sys::bytes_of(pages);
    std::vector<double> seconds;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        auto memory = sys::PlacedMemory::map(bytes, pages);
        if (!memory) {
            set_error(report, memory.error());
            return report;
        }
        const double faulting = fill_seconds(context.clock, memory->data(), bytes, 1);
        seconds.push_back(std::max(faulting - fill_seconds(context.clock, memory->data(), bytes, 2), 0.0));
    }
    set_fault_times(report, seconds, bytes);
    return report;
}

// Fresh memory, whose pages may have to come from the host first, against pages that this process has just given back.
void probe_cold(const ProbeContext& context, std::vector<model::CaseReport>& cases)
{
    const std::uint64_t most = std::min(cold_bytes, context.settings.memory_budget_bytes / 2);
    const auto chunks = sys::measure_first_touch(context.clock, most, cold_time);
    model::CaseReport first = fault_case("touch_of_fresh_memory", "4k");
    model::CaseReport again = fault_case("touch_of_returned_memory", "4k");
    if (!chunks) {
        set_error(first, chunks.error());
        set_error(again, chunks.error());
    } else {
        std::vector<double> first_seconds;
        std::vector<double> again_seconds;
        for (const sys::TouchedChunk& chunk : *chunks) {
            first_seconds.push_back(chunk.first_seconds);
            again_seconds.push_back(chunk.again_seconds);
        }
        set_fault_times(first, first_seconds, sys::page_size());
        set_fault_times(again, again_seconds, sys::page_size());
    }
    cases.push_back(std::move(first));
    cases.push_back(std::move(again));
}

}  // namespace

std::vector<model::CaseReport> probe_faults(const ProbeContext& context)
{
    context.progress("faults: by kind of memory and page");
    std::vector<model::CaseReport> cases;
    probe_cold(context, cases);
    for (const FaultCase& kind : fault_cases) {
        cases.push_back(probe_kind(context, kind));
    }
    for (const model::PageKind pages : {model::PageKind::huge_2m, model::PageKind::huge_1g}) {
        cases.push_back(probe_reserved(context, pages));
    }
    return cases;
}

}  // namespace memsweep::probe
