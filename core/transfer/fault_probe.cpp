#include "core/transfer/fault_probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "core/sys/fault_cost.hpp"
#include "core/sys/first_touch.hpp"
#include "core/sys/mapped_pages.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::transfer {
namespace {

constexpr std::string_view scenario = "probe_faults";
constexpr std::uint64_t cold_bytes = 64U << 20;
constexpr std::chrono::milliseconds cold_time{500};

model::CaseReport fault_case(std::string_view kind, std::string_view pages)
{
    return new_case(std::string{scenario}, {{"kind", std::string{kind}}, {"pages", std::string{pages}}});
}

struct Kind {
    sys::FaultKind kind;
    std::string_view name;
    std::string_view pages;
};
constexpr std::array<Kind, 4> kinds{{
    {sys::FaultKind::small_page, "first_touch", "4k"},
    {sys::FaultKind::huge_page, "first_touch", "thp"},
    {sys::FaultKind::shared_page, "shared_first_touch", "4k"},
    {sys::FaultKind::shared_again, "shared_refault", "4k"},
}};

void set_samples(model::CaseReport& report, const std::vector<double>& seconds, std::uint64_t page_bytes)
{
    if (seconds.empty()) {
        skip(report, "interrupted before its first sample");
        return;
    }
    set_values(report, "time_per_fault", seconds);
    set_fact(report, "page_bytes", static_cast<std::int64_t>(page_bytes));
}

model::CaseReport probe_kind(const ProbeContext& context, const Kind& kind)
{
    model::CaseReport report = fault_case(kind.name, kind.pages);
    report.planned_repetitions = context.settings.samples;
    std::vector<double> seconds;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        const auto cost = sys::measure_fault_cost(context.clock, kind.kind);
        if (!cost) {
            blame(report, cost.error());
            return report;
        }
        seconds.push_back(cost->seconds_per_fault);
    }
    const bool huge = kind.kind == sys::FaultKind::huge_page;
    set_samples(report, seconds, sys::bytes_of(huge ? sys::PageSize::thp : sys::PageSize::small));
    return report;
}

double fill_seconds(const sys::Clock& clock, std::byte* data, std::uint64_t bytes, int value)
{
    const auto begin = clock.now();
    std::memset(data, value, bytes);
    asm volatile("" ::"r"(data) : "memory");
    return std::chrono::duration<double>(clock.now() - begin).count();
}

model::CaseReport probe_reserved(const ProbeContext& context, sys::PageSize pages)
{
    model::CaseReport report = fault_case("first_touch", model::name_of(pages));
    report.planned_repetitions = context.settings.samples;
    const std::uint64_t bytes = sys::bytes_of(pages);
    std::vector<double> seconds;
    for (std::uint32_t sample = 0; sample < context.settings.samples && !context.stopped(); ++sample) {
        auto memory = sys::PagedMemory::map(bytes, pages);
        if (!memory) {
            blame(report, memory.error());
            return report;
        }
        const double faulting = fill_seconds(context.clock, memory->data(), bytes, 1);
        seconds.push_back(std::max(faulting - fill_seconds(context.clock, memory->data(), bytes, 2), 0.0));
    }
    set_samples(report, seconds, bytes);
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
        blame(first, chunks.error());
        blame(again, chunks.error());
    } else {
        std::vector<double> first_seconds;
        std::vector<double> again_seconds;
        for (const sys::TouchedChunk& chunk : *chunks) {
            first_seconds.push_back(chunk.first_seconds);
            again_seconds.push_back(chunk.again_seconds);
        }
        set_samples(first, first_seconds, sys::page_size());
        set_samples(again, again_seconds, sys::page_size());
    }
    cases.push_back(std::move(first));
    cases.push_back(std::move(again));
}

}  // namespace

std::vector<model::CaseReport> probe_faults(const ProbeContext& context)
{
    context.tell("faults: by kind of memory and page");
    std::vector<model::CaseReport> cases;
    probe_cold(context, cases);
    for (const Kind& kind : kinds) {
        cases.push_back(probe_kind(context, kind));
    }
    for (const sys::PageSize pages : {sys::PageSize::hugetlb_2m, sys::PageSize::hugetlb_1g}) {
        cases.push_back(probe_reserved(context, pages));
    }
    return cases;
}

}  // namespace memsweep::transfer
