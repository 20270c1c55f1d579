#include "reporters/html/chart_theme.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

struct Colours {
    Json background;
    std::string text, muted, line, phase, bad;
    Json series;
};

Json theme(const Colours& colours)
{
    constexpr std::string_view font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
    return {{"background", colours.background},
            {"font", font},
            {"view", {{"stroke", nullptr}}},
            {"axis",
             {{"labelColor", colours.muted},
              {"titleColor", colours.muted},
              {"gridColor", colours.line},
              {"domainColor", colours.line},
              {"tickColor", colours.line},
              {"labelFontSize", 11},
              {"titleFontSize", 11},
              {"titleFontWeight", "normal"}}},
            {"axisY", {{"domain", false}, {"ticks", false}}},
            {"header", {{"labelColor", colours.text}, {"labelFontSize", 12}, {"labelFontWeight", 600}}},
            {"title", {{"color", colours.text}, {"anchor", "start"}, {"fontSize", 14}}},
            {"legend",
             {{"orient", "top"},
              {"direction", "horizontal"},
              {"columns", 4},
              {"labelColor", colours.text},
              {"labelFontSize", 12},
              {"labelLimit", 260},
              {"symbolStrokeWidth", 2}}},
            {"range", {{"category", colours.series}}},
            {"style",
             {{"phase", {{"color", colours.phase}, {"stroke", colours.line}, {"strokeWidth", 1}}},
              {"curve-area", {{"color", colours.series.elements().front()}, {"opacity", 0.16}}},
              {"phase-name", {{"color", colours.muted}, {"fontSize", 10}}},
              {"slice", {{"color", colours.text}, {"fillOpacity", 0.12}}},
              {"value", {{"color", colours.text}, {"fontSize", 11}}},
              {"bad", {{"color", colours.bad}, {"fontSize", 11}, {"fontWeight", 600}}}}}};
}

}  // namespace

Json page_chart_theme()
{
    Json series = Json::array();
    for (int number = 1; number <= 8; ++number) {
        series.push_back(fmt::format("var(--series-{})", number));
    }
    return theme({nullptr, "var(--text)", "var(--muted)", "var(--line)", "var(--phase)", "var(--bad)", series});
}

Json plain_chart_theme()
{
    return theme(
        {"#ffffff", "#1a2129", "#55606d", "#d8dee6", "#f4f6f8", "#ae1f17",
         Json::array({"#1f5fa8", "#b3541e", "#2a7a4b", "#8a3fa0", "#a3324f", "#4d5b68", "#7a6a00", "#00757a"})});
}

}  // namespace memsweep::reporters
