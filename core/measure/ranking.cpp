#include "core/measure/ranking.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/measure/recorded_comparison.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

struct Ranked {
    const model::CaseReport* of{};
    std::vector<double> times;
    double median{};
};

// "sort big.txt", "sort big.txt (threads=4)", "threads=4".
std::string label_of(const model::CaseReport& report)
{
    constexpr std::array<std::string_view, 1> command_axis{"command"};
    const std::optional<std::string> command = value_on(report, command_axis.front());
    const std::string rest = fmt::format("{}", fmt::join(params_without(report, command_axis), ", "));
    if (!command) {
        return rest.empty() ? report.id : rest;
    }
    return rest.empty() ? *command : fmt::format("{} ({})", *command, rest);
}

bool is_of_programs(const model::RunReport& report)
{
    return report.run.scenario_path.empty() && !report.run.overrides.contains("judged.base") &&
           std::ranges::count(report.run.argv, "run") != 0 && std::ranges::count(report.run.argv, "--against") == 0;
}

}  // namespace

std::vector<Finding> ranking_findings(const model::RunReport& report)
{
    std::vector<Ranked> ranked;
    for (const model::CaseReport& one : report.cases) {
        const model::Metric* const time = model::find_metric(one, model::metrics::wall_time);
        if (time != nullptr && time->summary && one.status == model::Status::ok) {
            ranked.push_back({&one, present(time->values), time->summary->median});
        }
    }
    if (!is_of_programs(report) || ranked.size() < 2) {
        return {};
    }
    std::ranges::stable_sort(ranked, {}, &Ranked::median);
    const Ranked& fastest = ranked.front();
    std::vector<Finding> findings;
    for (const Ranked& other : std::span{ranked}.subspan(1)) {
        findings.push_back({.kind = FindingKind::ranking,
                            .importance = Importance::note,
                            .case_id = fastest.of->id,
                            .base = label_of(*other.of),
                            .subject = label_of(*fastest.of),
                            .metrics = {{.metric = std::string{model::metrics::wall_time},
                                         .unit = model::Unit::seconds,
                                         .value = fastest.median,
                                         .base_value = other.median,
                                         .effect = hodges_lehmann(fastest.times, other.times)}}});
    }
    return findings;
}

}  // namespace memsweep::measure
