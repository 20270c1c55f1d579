#include "reporters/html/html_charts.hpp"

#include <fmt/format.h>

#include "reporters/html/chart_theme.hpp"
#include "reporters/html/html_table.hpp"
#include "reporters/html/page_assets.hpp"
#include "reporters/text/html_text.hpp"

namespace memsweep::reporters {
namespace {

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
    return out + json_block(chart.spec, "") + data_html(chart, number) + "</figure>\n";
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

std::string scripts_html(bool with_charts)
{
    std::string out;
    if (with_charts) {
        out += json_block(page_chart_theme(), " id=\"chart-theme\"");
        out += fmt::format("<script>{}</script>\n", chart_library());
    }
    return out + fmt::format("<script>{}</script>\n", page_script());
}

std::string content_policy(bool with_charts)
{
    const std::string library = with_charts ? fmt::format("'{}' ", script_hash(chart_library())) : std::string{};
    return fmt::format("default-src 'none'; script-src {}'{}'; style-src 'unsafe-inline'; base-uri 'none'; "
                       "form-action 'none'",
                       library, script_hash(page_script()));
}

}  // namespace memsweep::reporters
