#include "reporters/json/consistency.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

using model::CaseReport;
using model::Counts;
using model::Metric;
using model::Summary;

struct Present {
    std::uint64_t count{};
    double least{};
    double greatest{};
};

Present present_of(const std::vector<std::optional<double>>& values)
{
    Present present;
    for (const std::optional<double>& value : values) {
        if (value) {
            present.least = present.count == 0 ? *value : std::min(present.least, *value);
            present.greatest = present.count == 0 ? *value : std::max(present.greatest, *value);
            ++present.count;
        }
    }
    return present;
}

// Of values that are not finite a result has nothing but null, and of a summary that knew them not all figures.
bool knows_all_values(const Summary& summary)
{
    return std::isfinite(summary.min) && std::isfinite(summary.max) && std::isfinite(summary.mean);
}

// Neighbours that do not ascend, by their names; a mean is a sum's quotient and may be off by rounding.
std::optional<std::pair<std::string_view, std::string_view>> out_of_order(const Summary& summary)
{
    const double rounding = 1e-9 * std::max(std::fabs(summary.min), std::fabs(summary.max));
    const double lowest = summary.min - rounding;
    const double highest = summary.max + rounding;
    const auto ends = summary.ci95.value_or(std::array{summary.median, summary.median});
    struct Pair {
        std::string_view lower_name;
        double lower;
        std::string_view upper_name;
        double upper;
    };
    const std::array<Pair, 9> pairs{{{"min", lowest, "max", highest},
                                     {"min", lowest, "mean", summary.mean},
                                     {"mean", summary.mean, "max", highest},
                                     {"min", summary.min, "ci95", ends[0]},
                                     {"ci95", ends[1], "max", summary.max},
                                     {"ci95", ends[0], "median", summary.median},
                                     {"median", summary.median, "ci95", ends[1]},
                                     {"p05", summary.p05.value_or(summary.median), "median", summary.median},
                                     {"median", summary.median, "p95", summary.p95.value_or(summary.median)}}};
    for (const Pair& pair : pairs) {
        if (pair.lower > pair.upper) {
            return std::pair{pair.lower_name, pair.upper_name};
        }
    }
    const bool has_tails_inside =
        !(summary.p05.value_or(summary.min) < summary.min) && !(summary.p95.value_or(summary.max) > summary.max);
    return has_tails_inside ? std::nullopt : std::optional{std::pair{"the tails", "the extremes"}};
}

void check_summary(const Node& node, const std::string& place, const Metric& metric)
{
    const Summary& summary = *metric.summary;
    const Present present = present_of(metric.values);
    const bool knows_all = knows_all_values(summary);
    if (knows_all ? summary.n != present.count : summary.n < present.count || summary.n > metric.values.size()) {
        node.report_in(place + ".n",
                       fmt::format("{}, but the values that are there number {}", summary.n, present.count));
    }
    if (knows_all && summary.min != present.least) {
        node.report_in(place + ".min",
                       fmt::format("{}, but the least of the values is {}", summary.min, present.least));
    }
    if (knows_all && summary.max != present.greatest) {
        node.report_in(place + ".max",
                       fmt::format("{}, but the greatest of the values is {}", summary.max, present.greatest));
    }
    if (const auto wrong = out_of_order(summary)) {
        node.report_in(place, fmt::format("{} and {} are out of order", wrong->first, wrong->second));
    }
    if (summary.outliers > summary.n) {
        node.report_in(place + ".outliers", fmt::format("{} of {} values", summary.outliers, summary.n));
    }
    if (summary.mad < 0 || summary.stddev.value_or(0) < 0) {
        node.report_in(place, "a spread below 0");
    }
}

template <typename Part>
void check_repetitions(const Node& node, std::string_view list, const std::vector<Part>& parts,
                       std::uint32_t repetitions)
{
    const auto beyond = std::ranges::find_if(parts, [&](const Part& part) { return part.repetition >= repetitions; });
    if (beyond != parts.end()) {
        node.report_in(fmt::format("{}[{}].repetition", list, beyond - parts.begin()),
                       fmt::format("{}, but the case has {}, counted from 0", beyond->repetition, repetitions));
    }
}

struct NamedCount {
    std::string_view key;
    std::uint64_t Counts::*count;
    std::string_view what;
};

constexpr std::array<NamedCount, 9> named_counts{{
    {"cases", &Counts::cases, "there are"},
    {"ok", &Counts::ok, "of the cases that are ok there are"},
    {"skipped", &Counts::skipped, "of the cases that were skipped there are"},
    {"failed", &Counts::failed, "of the cases that failed there are"},
    {"errors", &Counts::errors, "of the cases with an error there are"},
    {"timeouts", &Counts::timeouts, "of the cases that timed out there are"},
    {"assertions_failed", &Counts::assertions_failed, "of the assertions that failed there are"},
    {"assertions_warned", &Counts::assertions_warned, "of the assertions that warn there are"},
    {"assertions_not_evaluated", &Counts::assertions_not_evaluated, "of the assertions not evaluated there are"},
}};

}  // namespace

void check_consistency(const Node& node, const CaseReport& report)
{
    for (const Metric& metric : report.metrics) {
        const std::string place = "metrics." + metric.name;
        if (metric.values.size() != report.repetitions) {
            node.report_in(place + ".values", fmt::format("{}, but the case has {} repetitions", metric.values.size(),
                                                          report.repetitions));
        }
        if (metric.summary) {
            check_summary(node, place + ".summary", metric);
        }
    }
    check_repetitions(node, "points", report.points, report.repetitions);
    check_repetitions(node, "phases", report.phases, report.repetitions);
    check_repetitions(node, "series", report.series, report.repetitions);
    check_repetitions(node, "defects", report.defects, report.repetitions);
    if (report.status == model::Status::ok && report.repetitions == 0) {
        node.report_in("repetitions", "0, but the status is ok");
    }
}

void check_counts(const Node& counts, const model::RunReport& report)
{
    const Counts counted = model::count(report);
    for (const auto& [key, count, what] : named_counts) {
        if (!counts.has(key)) {
            continue;  // of an earlier version
        }
        const Node said = counts.at(key);
        if (const auto number = said.integer<std::uint64_t>(); number != counted.*count) {
            said.report(fmt::format("{}, but {} {}", number, what, counted.*count));
        }
    }
}

}  // namespace memsweep::reporters
