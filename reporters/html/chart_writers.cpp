#include "reporters/html/chart_writers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/html/html_table.hpp"
#include "reporters/html/page_assets.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::string_view vega_lite = "https://vega.github.io/schema/vega-lite/v6.json";

struct Colours {
    Json background;
    std::string text, muted, line, phase, bad, good;
    Json series;
};

// Colours and type of charts, as a Vega-Lite config.
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
              {"labelSeparation", 6},
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
              {"titleColor", colours.muted},
              {"labelFontSize", 12},
              {"labelLimit", 260},
              {"symbolStrokeWidth", 2}}},
            {"range", {{"category", colours.series}, {"ordinal", Json::array({colours.bad, colours.good})}}},
            {"style",
             {{"phase", {{"color", colours.phase}, {"stroke", colours.line}, {"strokeWidth", 1}}},
              {"curve-area", {{"color", colours.series.elements().front()}, {"opacity", 0.16}}},
              {"heat", {{"color", colours.series.elements().front()}}},
              {"answer", {{"color", colours.series.elements().front()}}},
              {"reference", {{"color", colours.muted}}},
              {"phase-name", {{"color", colours.muted}, {"fontSize", 10}}},
              {"slice", {{"color", colours.text}, {"fillOpacity", 0.12}}},
              {"value", {{"color", colours.text}, {"fontSize", 11}}},
              {"bad", {{"color", colours.bad}, {"fontSize", 11}, {"fontWeight", 600}}}}}};
}

// Colours are the page's custom properties, so that they follow its theme.
Json page_chart_theme()
{
    Json series = Json::array();
    for (int number = 1; number <= 8; ++number) {
        series.push_back(fmt::format("var(--series-{})", number));
    }
    return theme(
        {nullptr, "var(--text)", "var(--muted)", "var(--line)", "var(--phase)", "var(--bad)", "var(--good)", series});
}

// Dark on white, for a chart that stands alone.
Json plain_chart_theme()
{
    return theme(
        {"#ffffff", "#1a2129", "#55606d", "#d8dee6", "#f4f6f8", "#ae1f17", "#17653a",
         Json::array({"#1f5fa8", "#b3541e", "#2a7a4b", "#8a3fa0", "#a3324f", "#4d5b68", "#7a6a00", "#00757a"})});
}

// What a closing tag would begin with is written as an escape of JSON.
std::string json_block(const Json& json, std::string_view attributes)
{
    std::string out = fmt::format("<script type=\"application/json\"{}>", attributes);
    for (const char c : compact(json)) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out + "</script>\n";
}

std::string data_html(const Chart& chart, std::size_t number)
{
    std::string out = fmt::format("<details class=\"data{}\"><summary>The figures of this chart</summary>\n"
                                  "<div class=\"pair\">\n",
                                  chart.long_data ? " long" : "");
    for (std::size_t i = 0; i < chart.data.size(); ++i) {
        out += table_html(chart.data[i], fmt::format("chart-{}-data-{}", number, i), {.is_tall = chart.long_data});
    }
    return out + "</div>\n</details>\n";
}

std::string chart_html(const Chart& chart, std::size_t number)
{
    std::string out = fmt::format("<figure id=\"chart-{}\">\n<figcaption><h3>{}</h3><p class=\"muted\">{}</p>"
                                  "</figcaption>\n",
                                  number, escaped(chart.title), escaped(chart.about));
    out += fmt::format("<div class=\"plot\" role=\"img\" aria-label=\"{}\"></div>\n", escaped(chart.spoken));
    const std::string data = chart.data.empty() ? std::string{} : data_html(chart, number);
    Json spec{{"$schema", vega_lite}};
    spec.update(chart.spec);
    return out + json_block(spec, "") + data + "</figure>\n";
}

// Parameters live in one name space, however deep they are declared.
void number_params(Json& json, std::size_t number)
{
    const auto numbered = [&](Json& name) { name = fmt::format("{}_{}", *name.text(), number); };
    if (json.is_array()) {
        for (Json& element : json.elements()) {
            number_params(element, number);
        }
        return;
    }
    if (!json.is_object()) {
        return;
    }
    if (Json* param = json.find("param")) {
        numbered(*param);
    }
    if (Json* params = json.find("params")) {
        for (Json& param : params->elements()) {
            numbered(param["name"]);
        }
    }
    for (auto& [key, value] : json.members()) {
        if (key != "data") {
            number_params(value, number);
        }
    }
}

std::string title_of(const Chart& chart, const ScenarioCases& group, const ChartSection& section)
{
    return fmt::format("{}: {}{}{}", inert_text(chart.title), inert_text(group.scenario),
                       section.title.empty() ? "" : ", ", section.title);
}

}  // namespace

std::string charts_html(const std::vector<ChartSection>& sections, std::size_t& number)
{
    constexpr std::size_t most_unfolded = 2;
    std::string out;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        std::string charts;
        for (const Chart& chart : sections[i].charts) {
            charts += chart_html(chart, ++number);
        }
        const std::string title = escaped(sections[i].title);
        if (i >= most_unfolded) {
            out += fmt::format("<details class=\"more\"><summary>Charts of {}</summary>\n{}</details>\n",
                               title.empty() ? "more cases" : title, charts);
        } else {
            out += (title.empty() ? "" : fmt::format("<p class=\"group\">{}</p>\n", title)) + charts;
        }
    }
    return out;
}

std::string flame_graph_html(const FlameTree& tree)
{
    Json figures = Json::array();
    for (const FlameTree::Figure& figure : tree.figures) {
        figures.push_back({{"title", figure.title}, {"bytes", figure.is_bytes}, {"own", figure.own}});
    }
    Json names = Json::array();
    for (const std::string& name : tree.names) {
        names.push_back(inert_text(name));
    }
    Json files = Json::array();
    for (const std::string& file : tree.files) {
        files.push_back(inert_text(file));
    }
    const Json json{
        {"names", std::move(names)}, {"files", std::move(files)}, {"parent", tree.parent},        {"name", tree.name},
        {"file", tree.file},         {"line", tree.line},         {"figures", std::move(figures)}};
    return "<section class=\"flame\" aria-label=\"Flame graph\">\n" + json_block(json, "") +
           "<noscript><p class=\"muted\">The flame graph is drawn by a script of this page.</p></noscript>\n"
           "</section>\n";
}

std::string scripts_html(const PageScripts& scripts)
{
    std::string out;
    if (scripts.draw_flame_graph) {
        out += fmt::format("<script>{}</script>\n", flame_graph_script());
    }
    if (scripts.draw_charts) {
        out += json_block(page_chart_theme(), " id=\"chart-theme\"");
        out += fmt::format("<script>{}</script>\n", chart_library());
    }
    return out + fmt::format("<script>{}</script>\n", page_script());
}

std::string content_policy(const PageScripts& scripts)
{
    std::string library = scripts.draw_charts ? fmt::format("'{}' ", script_hash(chart_library())) : std::string{};
    library += scripts.draw_flame_graph ? fmt::format("'{}' ", script_hash(flame_graph_script())) : std::string{};
    return fmt::format("default-src 'none'; script-src {}'{}'; style-src 'unsafe-inline'; base-uri 'none'; "
                       "form-action 'none'",
                       library, script_hash(page_script()));
}

std::string to_vega(const model::RunReport& report)
{
    const CurveDetail detail = curve_detail(cases_of(report));
    Json views = Json::array();
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        for (ChartSection& section : chart_sections(group.cases, detail)) {
            for (Chart& chart : section.charts) {
                Json view{{"title", title_of(chart, group, section)}, {"description", chart.spoken}};
                number_params(chart.spec, views.size());
                view.update(chart.spec);
                views.push_back(std::move(view));
            }
        }
    }
    const Json independent{{"color", "independent"}, {"shape", "independent"}, {"strokeDash", "independent"}};
    return pretty({{"$schema", vega_lite},
                   {"description", inert_text("memsweep: " + report.run.scenario_name)},
                   {"config", plain_chart_theme()},
                   {"resolve", {{"scale", independent}, {"legend", independent}}},
                   {"vconcat", std::move(views)}}) +
           "\n";
}

}  // namespace memsweep::reporters
