#include "reporters/html_series.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"
#include "reporters/thinning.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_rows = 200;
constexpr std::size_t most_cases = 40;  // of 12 kB a series: more would make the page slow to open

std::string thinning_note(std::size_t shown, std::size_t all)
{
    return shown == all ? fmt::format("{} samples", all)
                        : fmt::format("{} of {} samples: each stretch's lowest and highest", shown, all);
}

Table series_table(const model::Series& series)
{
    const std::size_t size = std::min(series.t.size(), series.v.size());
    const std::vector<std::size_t> kept = thinned(std::span{series.v}.first(size), most_rows);
    Table table{.title = series.name, .note = thinning_note(kept.size(), size)};
    table.columns = {{.title = "time", .is_key = true, .is_number = true}, {.title = series.name, .is_number = true}};
    for (const std::size_t i : kept) {
        table.rows.push_back({value_cell(series.t[i], model::Unit::seconds), value_cell(series.v[i], series.unit)});
    }
    return table;
}

std::uint32_t first_repetition(const model::CaseReport& report)
{
    return std::ranges::min_element(report.series, {}, &model::Series::repetition)->repetition;
}

std::string case_html(const model::CaseReport& report, std::size_t index)
{
    const std::uint32_t repetition = first_repetition(report);
    std::string out = fmt::format("<details><summary>{}, repetition {}</summary>\n<div class=\"pair\">\n",
                                  escaped(report.id), repetition);
    for (std::size_t i = 0; i < report.series.size(); ++i) {
        if (report.series[i].repetition == repetition) {
            out += table_html(series_table(report.series[i]), fmt::format("series-{}-{}", index, i), Height::limited);
        }
    }
    return out + "</div>\n</details>\n";
}

}  // namespace

std::string series_html(const model::RunReport& report)
{
    std::string out;
    std::size_t shown = 0;
    std::size_t all = 0;
    for (const model::CaseReport& one : report.cases) {
        if (!one.series.empty() && ++all <= most_cases) {
            out += case_html(one, ++shown);
        }
    }
    if (shown == 0) {
        return {};
    }
    const std::string left_out = all > shown ? fmt::format(" of the first {} of {} cases", shown, all) : std::string{};
    return fmt::format("<h2>Curves</h2>\n<p class=\"muted\">The first measured repetition{}; the csv-series format has "
                       "every sample.</p>\n",
                       left_out) +
           out;
}

}  // namespace memsweep::reporters
