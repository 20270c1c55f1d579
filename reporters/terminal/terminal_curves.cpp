#include "reporters/terminal/terminal_curves.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "reporters/document/chart_groups.hpp"
#include "reporters/document/first_repetition.hpp"
#include "reporters/document/value_text.hpp"
#include "reporters/terminal/sparkline.hpp"
#include "reporters/terminal/terminal_ink.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

struct Line {
    std::string label;
    const model::Series* series{};
    double peak{};
};

const model::Series* working_set_of(const model::CaseReport& report)
{
    const std::uint32_t repetition = first_repetition(report);
    const auto found = std::ranges::find_if(report.series, [&](const model::Series& series) {
        return series.name == "working_set" && series.repetition == repetition && !series.t.empty();
    });
    return found == report.series.end() ? nullptr : &*found;
}

double largest_of(const std::vector<double>& values)
{
    double largest = 0;
    for (const double value : values) {
        largest = std::isfinite(value) ? std::max(largest, value) : largest;
    }
    return largest;
}

std::vector<Line> lines_of(const ChartGroup& group)
{
    std::vector<Line> lines;
    for (const ChartCase& one : group.cases) {
        if (const model::Series* series = working_set_of(*one.report)) {
            lines.push_back({one.label, series, largest_of(series->v)});
        }
    }
    return lines;
}

std::string group_text(const ChartGroup& group, const std::vector<Line>& lines, const TerminalStyle& style)
{
    constexpr int widest_label = 24;
    constexpr int widest_curve = 64;
    constexpr int gaps = 4;
    int label_width = 0;
    int peak_width = 0;
    double end = 0;
    double top = 0;
    for (const Line& line : lines) {
        label_width = std::max(label_width, std::min(display_width(line.label), widest_label));
        peak_width = std::max(peak_width, display_width(value_text(line.peak, model::Unit::bytes)));
        end = std::max(end, largest_of(line.series->t));
        top = std::max(top, line.peak);
    }
    const int room = usable_width(style) - label_width - peak_width - gaps;
    const int columns = std::min(room, widest_curve);
    const std::string frame = fmt::format("{}{}first repetition, 0 to {}, peaks at the right", inert_text(group.title),
                                          group.title.empty() ? "" : ": ", value_text(end, model::Unit::seconds));
    std::string out = paragraph(frame, "", style, Tone::muted);
    for (const Line& line : lines) {
        out += fmt::format("{}  {}  {}\n", padded_right(elided(line.label, label_width), label_width),
                           padded_right(sparkline(*line.series, end, top, columns), columns),
                           padded_left(value_text(line.peak, model::Unit::bytes), peak_width));
    }
    return out;
}

}  // namespace

std::string curves_text(const Cases& cases, const TerminalStyle& style)
{
    Cases sampled;
    std::ranges::copy_if(cases, std::back_inserter(sampled),
                         [](const auto* one) { return working_set_of(*one) != nullptr; });
    std::string out;
    for (const ChartGroup& group : chart_groups(sampled, std::max<std::size_t>(sampled.size(), 1))) {
        const std::vector<Line> lines = lines_of(group);
        out += lines.empty() ? std::string{} : group_text(group, lines, style);
    }
    return out.empty() ? out : heading("Working set over time", style) + "\n" + out;
}

}  // namespace memsweep::reporters
