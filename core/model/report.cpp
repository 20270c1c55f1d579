#include "core/model/report.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::model {

std::string describe(const Defect& defect)
{
    const std::string count = base::format_count(static_cast<double>(defect.count));
    const auto times = [&](std::string_view what) {
        return fmt::format("{} of \"{}\": {} {}", what, defect.target, count, defect.count == 1 ? "time" : "times");
    };
    switch (defect.kind) {
    case DefectKind::use_after_free:
        return times("use after free");
    case DefectKind::double_free:
        return times("double free");
    case DefectKind::aliased_free:
        return times("free refused, other references exist,");
    case DefectKind::stray_release:
        return times("stray release");
    case DefectKind::overrun:
        return times("overrun past the end");
    case DefectKind::leak:
        break;
    }
    return fmt::format("leak: {} {} of \"{}\" ({}) dropped and never freed, the oldest {} before the end", count,
                       defect.count == 1 ? "array" : "arrays", defect.target,
                       base::format_size(static_cast<double>(defect.bytes)),
                       base::format_duration(defect.oldest_seconds));
}

const std::optional<double>* point_field(const Point& point, std::string_view metric)
{
    using Field = std::optional<double> Point::*;
    struct Entry {
        std::string_view name;
        Field field;
    };
    static constexpr std::array<Entry, 9> fields{{
        {"live_bytes", &Point::live_bytes},
        {"floating_bytes", &Point::floating_bytes},
        {"working_set", &Point::working_set},
        {"working_set_delta", &Point::working_set_delta},
        {"minor_faults", &Point::minor_faults},
        {"major_faults", &Point::major_faults},
        {"queue_depth", &Point::queue_depth},
        {"pool_idle_bytes", &Point::pool_idle_bytes},
        {"huge_page_bytes", &Point::huge_page_bytes},
    }};
    const auto found = std::ranges::find(fields, metric, &Entry::name);
    return found == fields.end() ? nullptr : &(point.*(found->field));
}

const Metric* find_metric(const CaseReport& report, std::string_view name)
{
    const auto found = std::ranges::find(report.metrics, name, &Metric::name);
    return found == report.metrics.end() ? nullptr : &*found;
}

RunReport new_report(Machine machine, std::string started, std::vector<std::string> argv)
{
    RunReport report;
    report.tool = this_tool();
    report.machine = std::move(machine);
    report.run.id = fmt::format("{}-{:08x}", started, std::random_device{}());
    report.run.started = std::move(started);
    report.run.argv = std::move(argv);
    return report;
}

std::optional<Warning> build_warning(const ToolInfo& tool)
{
    if (tool.build_type == "Release" && tool.sanitizer.empty()) {
        return std::nullopt;
    }
    return Warning{"slow-build",
                   fmt::format("this memsweep is a {} build{}", tool.build_type.empty() ? "plain" : tool.build_type,
                               tool.sanitizer.empty() ? "" : fmt::format(" under the {} sanitizer", tool.sanitizer)),
                   "measure with the release preset: cmake --workflow --preset release"};
}

CallTimes& times_of(std::vector<CallTimes>& all, std::string_view call, std::uint64_t from_bytes,
                    std::uint64_t to_bytes)
{
    const auto found = std::ranges::find_if(
        all, [&](const CallTimes& one) { return one.call == call && one.from_bytes == from_bytes; });
    return found != all.end() ? *found : all.emplace_back(CallTimes{std::string{call}, from_bytes, to_bytes, {}, {}});
}

void add_calls(CallTimes& times, double seconds, std::uint64_t count)
{
    const auto near = std::ranges::find_if(times.seconds, [seconds](double edge) {
        return edge == seconds || (edge < seconds * 1.02 && edge > seconds * 0.98);
    });
    if (near != times.seconds.end()) {
        times.counts[static_cast<std::size_t>(near - times.seconds.begin())] += count;
        return;
    }
    const auto at = std::ranges::lower_bound(times.seconds, seconds) - times.seconds.begin();
    times.seconds.insert(times.seconds.begin() + at, seconds);
    times.counts.insert(times.counts.begin() + at, count);
}

StatusCounts count(const RunReport& report)
{
    // In the order of Status.
    static constexpr std::array<std::uint64_t StatusCounts::*, 5> by_status{
        &StatusCounts::ok, &StatusCounts::skipped, &StatusCounts::failed, &StatusCounts::errors,
        &StatusCounts::timeouts};
    static_assert(by_status.size() == name_table<Status>.size());
    StatusCounts counts;
    counts.cases = report.cases.size();
    for (const CaseReport& one : report.cases) {
        ++(counts.*by_status.at(static_cast<std::size_t>(one.status)));
    }
    for (const AssertionResult& assertion : report.assertions) {
        if (assertion.outcome == AssertionOutcome::not_evaluated) {
            ++counts.assertions_not_evaluated;
        } else if (assertion.outcome == AssertionOutcome::failed) {
            ++(assertion.severity == Severity::fail ? counts.assertions_failed : counts.assertions_warned);
        }
    }
    return counts;
}

}  // namespace memsweep::model
