#include "core/measure/merge.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace memsweep::measure {
namespace {

using base::Expected;
using model::CaseReport;
using model::Metric;
using model::Status;

// Of two parts of a case the one that decides what it is.
int severity(const CaseReport& report)
{
    switch (report.status) {
    case Status::skipped:
        return 0;
    case Status::ok:
        return 1;
    case Status::failed:
        return failed_by_assertion(report) ? 1 : 2;
    case Status::timeout:
        return 3;
    case Status::error:
        break;
    }
    return 4;
}

tl::unexpected<base::Error> conflict(const CaseReport& report, std::string_view what, std::string_view name)
{
    return base::fail(base::ErrorCode::invalid_input, fmt::format("{}: {} {}", report.id, name, what));
}

// One value per repetition, so that those of the next part come in their places.
Expected<void> fill(const CaseReport& report, Metric& metric)
{
    if (metric.values.size() > report.repetitions) {
        return conflict(report, "has more values than repetitions", metric.name);
    }
    if (metric.values.size() < report.repetitions) {
        metric.values.resize(report.repetitions);
        metric.reason = metric.reason.empty() ? "not measured in every merged run" : metric.reason;
    }
    return {};
}

bool alike(const Metric& a, const Metric& b)
{
    return a.unit == b.unit && a.better == b.better && a.metric_class == b.metric_class;
}

Expected<void> append_metric(CaseReport& into, const CaseReport& from, Metric added)
{
    if (auto filled = fill(from, added); !filled) {
        return filled;
    }
    const auto found = std::ranges::find(into.metrics, added.name, &Metric::name);
    if (found == into.metrics.end()) {
        if (into.repetitions != 0) {
            added.values.insert(added.values.begin(), into.repetitions, std::nullopt);
            added.reason = added.reason.empty() ? "not measured in every merged run" : added.reason;
        }
        into.metrics.push_back(std::move(added));
        return {};
    }
    if (!alike(*found, added)) {
        return conflict(into,
                        fmt::format("has unit {} ({}, {}) here and {} ({}, {}) in what it is merged with",
                                    name_of(added.unit), name_of(added.better), name_of(added.metric_class),
                                    name_of(found->unit), name_of(found->better), name_of(found->metric_class)),
                        added.name);
    }
    found->values.insert(found->values.end(), added.values.begin(), added.values.end());
    found->reason = found->reason.empty() ? added.reason : found->reason;
    return {};
}

Expected<void> append_metrics(CaseReport& into, const CaseReport& from)
{
    for (Metric& metric : into.metrics) {
        if (auto filled = fill(into, metric); !filled) {
            return filled;
        }
    }
    for (const Metric& metric : from.metrics) {
        if (auto appended = append_metric(into, from, metric); !appended) {
            return appended;
        }
    }
    for (Metric& metric : into.metrics) {
        if (metric.values.size() < into.repetitions + from.repetitions) {
            metric.values.resize(into.repetitions + from.repetitions);
            metric.reason = metric.reason.empty() ? "not measured in every merged run" : metric.reason;
        }
    }
    return {};
}

template <typename Part>
void append_shifted(std::vector<Part>& into, const std::vector<Part>& from, std::uint32_t by)
{
    for (Part part : from) {
        part.repetition += by;
        into.push_back(std::move(part));
    }
}

}  // namespace

bool failed_by_assertion(const CaseReport& report)
{
    return report.status == Status::failed && report.reason.starts_with("assertion failed");
}

Expected<void> append_case(CaseReport& into, const CaseReport& from)
{
    constexpr std::uint64_t max_repetitions = std::numeric_limits<std::uint32_t>::max();
    if (std::uint64_t{into.repetitions} + from.repetitions > max_repetitions ||
        std::uint64_t{into.planned_repetitions} + from.planned_repetitions > max_repetitions) {
        return conflict(into, "are too many", "repetitions");
    }
    for (const model::Series& series : from.series) {
        const auto found = std::ranges::find(into.series, series.name, &model::Series::name);
        if (found != into.series.end() && found->unit != series.unit) {
            return conflict(into,
                            fmt::format("has unit {} here and {} in what it is merged with", name_of(series.unit),
                                        name_of(found->unit)),
                            "series " + series.name);
        }
    }
    if (auto appended = append_metrics(into, from); !appended) {
        return appended;
    }
    append_shifted(into.points, from.points, into.repetitions);
    append_shifted(into.phases, from.phases, into.repetitions);
    append_shifted(into.series, from.series, into.repetitions);
    append_shifted(into.defects, from.defects, into.repetitions);
    if (severity(from) > severity(into)) {
        into.status = from.status;
        into.reason = from.reason;
    }
    into.repetitions += from.repetitions;
    into.planned_repetitions += from.planned_repetitions;
    return {};
}

}  // namespace memsweep::measure
