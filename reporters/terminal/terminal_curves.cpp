#include "reporters/terminal/terminal_curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/document/curve_chart.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string_view block_of(double value, double top)
{
    const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
    return blocks[static_cast<std::size_t>(std::lround(share * (blocks.size() - 1)))];
}

using CurveColumns = std::vector<std::optional<double>>;

// The highest sample of each column that has one.
CurveColumns highest(const model::Series& series, double end, int columns)
{
    CurveColumns values(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
        const double place = series.t[i] / end * columns;
        if (std::isfinite(series.v[i]) && place >= 0) {
            auto& value = values[std::min(static_cast<std::size_t>(place), values.size() - 1)];
            value = std::max(value.value_or(series.v[i]), series.v[i]);
        }
    }
    return values;
}

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

// As the kernel has it, where that is known: samples may miss it.
double peak_of(const model::CaseReport& report, const model::Series& series)
{
    return measure::case_median(drawn_repetition(report), {}, model::metrics::working_set_peak)
        .value_or(largest_of(series.v));
}

std::vector<Line> lines_of(const ChartGroup& group)
{
    std::vector<Line> lines;
    for (const ChartCase& one : group.cases) {
        if (const model::Series* series = working_set_of(*one.report)) {
            lines.push_back({one.label, series, peak_of(*one.report, *series)});
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

std::string sparkline(const model::Series& series, double end, double top, int columns)
{
    if (!(end > 0) || columns < 1) {
        return {};
    }
    CurveColumns values = highest(series, end, columns);
    while (!values.empty() && !values.back()) {
        values.pop_back();
    }
    std::string line;
    std::optional<double> last;
    for (const auto& value : values) {
        last = value ? value : last;
        line += last ? block_of(*last, top) : " ";
    }
    return line;
}

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
