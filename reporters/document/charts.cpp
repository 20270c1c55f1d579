#include "reporters/document/charts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "reporters/document/fault_chart.hpp"
#include "reporters/document/replay_report.hpp"
#include "reporters/document/sweep_chart.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {

std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail)
{
    constexpr std::size_t most_strips = 6;
    Cases measured;
    std::ranges::copy_if(cases, std::back_inserter(measured),
                         [](const auto* one) { return !one->series.empty() || !one->phases.empty(); });
    std::vector<ChartSection> sections{{{}, sweep_charts(cases)}};
    if (auto replays = replay_chart(cases)) {
        sections.front().charts.insert(sections.front().charts.begin(), *std::move(replays));
    }
    for (const ChartGroup& group : chart_groups(measured, most_strips)) {
        ChartSection section{inert_text(group.title), {}};
        for (std::optional<Chart> chart : {curve_chart(group, detail), fault_chart(group)}) {
            if (chart) {
                section.charts.push_back(std::move(*chart));
            }
        }
        sections.push_back(std::move(section));
    }
    std::erase_if(sections, [](const ChartSection& section) { return section.charts.empty(); });
    return sections;
}

}  // namespace memsweep::reporters
