#include "reporters/document/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/dot_chart.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

Cell size_cell(std::uint64_t bytes)
{
    return {.text = base::format_size(static_cast<double>(bytes)), .exact = base::exact_size(bytes)};
}

Cell grouped_cell(std::uint64_t count)
{
    return {.text = base::format_count(static_cast<double>(count))};
}

std::vector<Cell> row_of(const trace::PolicyFit& fit)
{
    std::vector<Cell> row{{std::string{fit.policy}}, size_cell(fit.capacity), {fmt::format("{:.3f}", fit.ratio)}};
    if (fit.first_failure) {
        for (const Cell& cell :
             {grouped_cell(fit.first_failure->event), size_cell(fit.first_failure->size),
              size_cell(fit.first_failure->live_bytes), size_cell(fit.first_failure->largest_hole)}) {
            row.push_back(cell);
        }
    }
    row.resize(7);
    return row;
}

// "12.7 MiB (rmm_pool)"
std::string need_of(const trace::PolicyFit& fit)
{
    return fmt::format("{} ({})", base::format_size(fit.capacity), fit.policy);
}

// "the 40.0 MiB block of event 5,765 fails, t = 1.20 s"
std::string failure_text(const trace::FitFailure& failure)
{
    const std::string time =
        failure.seconds ? fmt::format(", t = {}", base::format_duration(*failure.seconds)) : std::string{};
    return fmt::format("the {} block of event {} fails{}", base::format_size(failure.size),
                       base::format_count(static_cast<double>(failure.event)), time);
}

// "needs at least", where the trace does not have all of it.
std::string needs(const FitReport& report)
{
    return report.is_least ? "needs at least" : "needs";
}

// "fits into 4000 MiB"; nothing that is known of a part may say that of the whole.
std::string fits(const FitReport& report)
{
    return report.is_least ? fmt::format("would fit into {} as far as it is known,", report.capacity_text)
                           : fmt::format("fits into {}", report.capacity_text);
}

std::string live_text(const FitReport& report)
{
    return fmt::format("{} that {} live at the peak", base::format_size(report.granted_peak),
                       report.granted_peak == report.live_peak ? "are" : "would be");
}

// "needs 3.68 GiB under pytorch; at 3 GiB the 40.0 MiB block of event 5,765 fails, t = 1.20 s"
std::string text_of_one(const trace::PolicyFit& fit, const FitReport& report)
{
    std::string text = fmt::format("{} {} under {}", needs(report), base::format_size(fit.capacity), fit.policy);
    if (!report.options.capacity) {
        return text + fmt::format(", {:.2f} times the {}", fit.ratio, live_text(report));
    }
    if (fit.first_failure) {
        return text + fmt::format("; at {} {}", report.capacity_text, failure_text(*fit.first_failure));
    }
    return text + (report.is_least ? fmt::format("; whether all of it fits into {} is not known", report.capacity_text)
                                   : fmt::format(" and fits into {}", report.capacity_text));
}

std::string text_of_many(const FitReport& report, const std::vector<std::string>& fitting)
{
    const auto [least, most] = std::ranges::minmax_element(report.policies, {}, &trace::PolicyFit::capacity);
    const std::size_t policies = report.policies.size();
    if (!report.options.capacity) {
        return report.granted_peak == report.live_peak
                   ? fmt::format("{} {} to {}; {} are live at the peak", needs(report), need_of(*least), need_of(*most),
                                 base::format_size(report.live_peak))
                   : fmt::format("{} {} to {}, with the {}", needs(report), need_of(*least), need_of(*most),
                                 live_text(report));
    }
    if (fitting.empty()) {
        return fmt::format("fits into {} under none of {} policies; the least that one needs is {}",
                           report.capacity_text, policies, need_of(*least));
    }
    return fitting.size() == policies
               ? fmt::format("{} under each of {} policies; the most that one needs is {}", fits(report), policies,
                             need_of(*most))
               : fmt::format("{} under {} of {} policies: {}", fits(report), fitting.size(), policies, listed(fitting));
}

// "tlsf needs 14.4 MiB: the 1.95 MiB block of event 1,213,762 fails"
std::string finding_text(const trace::PolicyFit& fit, std::uint64_t capacity)
{
    const std::string failure = failure_text(*fit.first_failure);
    return fit.capacity <= capacity
               ? fmt::format("{} grows otherwise here than in {}, which would do: {}", fit.policy,
                             base::format_size(fit.capacity), failure)
               : fmt::format("{} needs {}: {}", fit.policy, base::format_size(fit.capacity), failure);
}

// The answer in a sentence, and what fails first under each policy that the capacity is too small for.
Opening opening_of(const FitReport& report)
{
    if (report.granted_peak == 0) {
        Opening nothing{.headline = {report.is_least ? "This trace has no allocation, and not all of what was done."
                                                     : "This trace allocates nothing: any capacity suffices.",
                                     Tone::plain}};
        for (const std::string& caveat : report.caveats) {
            nothing.findings.push_back({measure::Importance::warning, caveat});
        }
        return nothing;
    }
    std::vector<std::string> fitting;
    for (const trace::PolicyFit& fit : report.policies) {
        if (!fit.first_failure) {
            fitting.emplace_back(fit.policy);
        }
    }
    const bool is_one = report.policies.size() == 1;
    const std::string text = is_one ? text_of_one(report.policies.front(), report) : text_of_many(report, fitting);
    const std::string runs =
        report.options.runs > 1 ? fmt::format("{} times in a row, this", report.options.runs) : "This";
    Opening opening{.headline = {fmt::format("{} trace {}.", runs, text), Tone::plain}};
    for (const std::string& caveat : report.caveats) {
        opening.findings.push_back({measure::Importance::warning, caveat});
    }
    if (report.options.capacity) {
        const bool is_certain = fitting.size() == report.policies.size() && !report.is_least;
        opening.headline.tone = fitting.empty() ? Tone::bad : is_certain ? Tone::good : Tone::caution;
        for (const trace::PolicyFit& fit : report.policies) {
            if (fit.first_failure && !is_one) {
                opening.findings.push_back({measure::Importance::note, finding_text(fit, *report.options.capacity)});
            }
        }
    }
    return opening;
}

std::string failure_note(const FitReport& report)
{
    if (report.options.capacity) {
        return fmt::format("fails first: what does not fit in {}; nothing where all does", report.capacity_text);
    }
    return "fails first: what does not fit when the capacity is one byte less";
}

Table capacity_table(const FitReport& report)
{
    Table table{.title = "Capacity", .note = failure_note(report), .columns = {Column::key("policy")}};
    table.add_numbers(
        {"smallest capacity", "of live peak", "fails first: event", "its size", "live bytes", "largest hole"});
    for (const trace::PolicyFit& fit : report.policies) {
        table.rows.push_back(row_of(fit));
    }
    return table;
}

// Of a single policy the sentence says it all.
std::vector<ChartSection> capacities(const FitReport& report)
{
    if (report.policies.size() < 2 || report.granted_peak == 0) {
        return {};
    }
    std::vector<Dot> dots;
    for (const trace::PolicyFit& fit : report.policies) {
        const bool is_too_large = report.options.capacity && fit.first_failure;
        dots.push_back({.name = std::string{fit.policy},
                        .value = static_cast<double>(fit.capacity),
                        .objection = is_too_large ? ", does not fit" : ""});
    }
    const std::string peak = report.granted_peak == report.live_peak ? "live at the peak" : "rounded, live at the peak";
    std::vector<PictureLine> lines{{.at = static_cast<double>(report.granted_peak),
                                    .name = fmt::format("{}: {}", peak, base::format_size(report.granted_peak))}};
    std::string about = "The dashed line is what is live at the peak: no policy can do with less.";
    if (report.options.capacity) {
        lines.push_back({.at = static_cast<double>(*report.options.capacity),
                         .name = fmt::format("capacity: {}", report.capacity_text),
                         .is_limit = true});
        about += " The other line is the capacity that was asked for.";
    }
    return {{.title = {},
             .charts = {dot_chart({.quantity = "smallest capacity",
                                   .unit = model::Unit::bytes,
                                   .alternative = "policy",
                                   .value = "capacity",
                                   .about = about,
                                   .lines = lines},
                                  dots)}}};
}

constexpr std::string_view picture_text = R"json({
"width": 640, "height": 320,
"usermeta": {"room": 90},
"layer": [
  {"data": {"name": "cells", "values": []},
   "mark": {"type": "rect", "clip": true, "style": "heat"},
   "encoding": {
     "x": {"field": "x", "type": "quantitative", "title": "operation", "scale": {"nice": false}},
     "x2": {"field": "x2"},
     "y": {"field": "y", "type": "quantitative", "scale": {"nice": false}},
     "y2": {"field": "y2"},
     "fillOpacity": {"field": "taken", "type": "quantitative", "title": "taken",
       "scale": {"domain": [0, 1], "range": [0.03, 0.9]}, "legend": {"format": ".0%", "symbolType": "square"}},
     "tooltip": [{"field": "at", "title": "addresses from"}, {"field": "x", "title": "operations from", "format": ",d"},
       {"field": "taken", "title": "taken", "format": ".0%"}]}},
  {"data": {"name": "lines", "values": []},
   "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
   "encoding": {
     "x": {"field": "x", "type": "quantitative"},
     "y": {"field": "v", "type": "quantitative"},
     "color": {"field": "line", "type": "nominal", "title": null, "scale": {"domain": ["cells", "live", "needed"]},
       "legend": {"values": ["live", "needed"], "symbolType": "stroke"}},
     "strokeDash": {"field": "line", "type": "nominal", "title": null,
       "scale": {"domain": ["cells", "live", "needed"], "range": [[1, 0], [1, 0], [6, 3]]},
       "legend": {"values": ["live", "needed"], "symbolType": "stroke"}}}}
]})json";

constexpr std::string_view growth_text = R"json({
"width": 640, "height": 220,
"usermeta": {"room": 90},
"data": {"values": []},
"mark": {"type": "line", "point": true},
"encoding": {
  "x": {"field": "run", "type": "quantitative", "title": "run", "axis": {"tickMinStep": 1, "format": "d"}},
  "y": {"field": "capacity", "type": "quantitative", "scale": {"zero": false}},
  "color": {"field": "policy", "type": "nominal", "title": null},
  "tooltip": [{"field": "policy"}, {"field": "run"}, {"field": "text", "title": "capacity"}]}
})json";

std::uint64_t part_of(std::uint64_t whole, std::size_t part, std::size_t parts)
{
    return static_cast<std::uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                                      static_cast<double>(parts));
}

// Cells of the same share that lie next to each other in a column are one rectangle: much of an arena is full, or
// empty.
Json cells_of(const trace::AddressPicture& picture, const ChartUnit& unit)
{
    constexpr float steps = 20;
    const auto step_at = [&](std::size_t column, std::size_t row) {
        return std::lround(std::min(1.0F, picture.at(column, row)) * steps);
    };
    Json cells = Json::array();
    for (std::size_t column = 0; column < picture.columns; ++column) {
        for (std::size_t row = 0; row < picture.rows;) {
            std::size_t end = row + 1;
            while (end < picture.rows && step_at(column, end) == step_at(column, row)) {
                ++end;
            }
            if (const auto step = step_at(column, row); step != 0) {
                const std::uint64_t from = part_of(picture.bytes, row, picture.rows);
                const std::uint64_t to = part_of(picture.bytes, end, picture.rows);
                cells.push_back({{"x", part_of(picture.operations, column, picture.columns)},
                                 {"x2", part_of(picture.operations, column + 1, picture.columns)},
                                 {"y", chart_number(static_cast<double>(from) / unit.factor)},
                                 {"y2", chart_number(static_cast<double>(to) / unit.factor)},
                                 {"at", base::format_size(from)},
                                 {"taken", chart_number(static_cast<double>(step) / steps)}});
            }
            row = end;
        }
    }
    return cells;
}

Json lines_of(const trace::AddressPicture& picture, const ChartUnit& unit)
{
    Json lines = Json::array();
    const auto add = [&](std::uint64_t x, std::size_t column) {
        for (const auto& [name, values] : {std::pair{"live", &picture.live}, {"needed", &picture.high}}) {
            lines.push_back(
                {{"x", x}, {"v", chart_number(static_cast<double>((*values)[column]) / unit.factor)}, {"line", name}});
        }
    };
    for (std::size_t column = 0; column < picture.columns; ++column) {
        add(part_of(picture.operations, column, picture.columns), column);
    }
    if (picture.columns > 0) {
        add(picture.operations, picture.columns - 1);  // the end of the last column
    }
    return lines;
}

Chart picture_chart(const PolicyPicture& one)
{
    const trace::AddressPicture& picture = one.picture;
    const ChartUnit unit = chart_unit(model::Unit::bytes, static_cast<double>(picture.bytes));
    Json spec = json_of(picture_text);
    spec["layer"][0]["data"]["values"] = cells_of(picture, unit);
    spec["layer"][0]["encoding"]["y"]["title"] = fmt::format("address ({})", unit.name);
    spec["layer"][0]["encoding"]["y"]["scale"]["domain"] = {
        0, chart_number(static_cast<double>(picture.bytes) / unit.factor)};
    spec["layer"][0]["encoding"]["x"]["scale"]["domain"] = {0, picture.operations};
    spec["layer"][1]["data"]["values"] = lines_of(picture, unit);
    const std::uint64_t live = *std::ranges::max_element(picture.live);
    Table table{
        .title = "Address space over time",
        .columns = {Column::number_key("operation"), Column::number("live bytes"), Column::number("needed so far")}};
    for (std::size_t column = 0; column < picture.columns; ++column) {
        const std::uint64_t x = part_of(picture.operations, column, picture.columns);
        table.rows.push_back({{.text = base::format_count(static_cast<double>(x))},
                              {.text = base::format_size(picture.live[column])},
                              {.text = base::format_size(picture.high[column])}});
    }
    return {.title = fmt::format("Address space over time, {}", one.policy),
            .about =
                "Each column is as many allocations and frees, each row as many addresses; the stronger the colour, "
                "the more of it is taken. What is pale below the line of what is needed lies in holes. The other line "
                "is what "
                "is live: the distance between the two is fragmentation.",
            .spoken = fmt::format("{}: {} live at the most, {} needed.", one.policy, base::format_size(live),
                                  base::format_size(picture.bytes)),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .long_data = true};
}

Chart growth_chart(const FitReport& report)
{
    std::uint64_t largest = 1;
    for (const trace::PolicyFit& fit : report.policies) {
        for (const std::uint64_t capacity : fit.needed_after_run) {
            largest = std::max(largest, capacity);
        }
    }
    const ChartUnit unit = chart_unit(model::Unit::bytes, static_cast<double>(largest));
    Json spec = json_of(growth_text);
    Table table{.title = "Growth from run to run",
                .columns = {Column::key("policy"), Column::number("run"), Column::number("capacity")}};
    Json values = Json::array();
    for (const trace::PolicyFit& fit : report.policies) {
        for (std::size_t run = 0; run < fit.needed_after_run.size(); ++run) {
            const std::uint64_t capacity = fit.needed_after_run[run];
            values.push_back({{"policy", std::string{fit.policy}},
                              {"run", run + 1},
                              {"capacity", chart_number(static_cast<double>(capacity) / unit.factor)},
                              {"text", base::format_size(capacity)}});
            table.rows.push_back(
                {{.text = std::string{fit.policy}}, {.text = std::to_string(run + 1)}, size_cell(capacity)});
        }
    }
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["y"]["title"] = fmt::format("capacity ({})", unit.name);
    return {.title = "Growth from run to run",
            .about = "The same operations again and again, what a run leaves freed at its end. A line that "
                     "rises is fragmentation that outlives a run: a capacity that suffices once may not do "
                     "so twice. The axis does not begin at 0.",
            .spoken = "Lines: the capacity that each policy needs after each run.",
            .spec = std::move(spec),
            .data = {std::move(table)}};
}

std::vector<ChartSection> pictures(const FitReport& report)
{
    ChartSection section;
    if (report.options.runs > 1) {
        section.charts.push_back(growth_chart(report));
    }
    std::ranges::transform(report.pictures, std::back_inserter(section.charts), picture_chart);
    return {section};
}

}  // namespace

Document document(const FitReport& report)
{
    Document document{.kicker = "memsweep fit",
                      .title = inert_text(report.trace_name),
                      .description = "The smallest capacity that a trace needs, by placement policy."};
    document.add(opening_of(report));
    const std::string memory = report.memory.empty() ? std::string{} : fmt::format(" Only {}.", report.memory);
    const std::string sizes =
        report.sizes.empty() ? std::string{} : fmt::format(" The trace's sizes are {}.", inert_text(report.sizes));
    document.add(Paragraph{fmt::format("Live at the peak: {} ({} bytes). Sizes rounded up to {}.{}{}",
                                       base::format_size(report.live_peak),
                                       base::format_count(static_cast<double>(report.live_peak)),
                                       base::exact_size(report.options.alignment), memory, sizes)});
    document.add(Charts{.title = {}, .sections = [&report] { return capacities(report); }});
    document.add(TableBlock{.table = capacity_table(report), .id = "capacities", .is_sortable = true});
    document.add(Charts{.title = "Pictures", .sections = [&report] { return pictures(report); }});
    return document;
}

}  // namespace memsweep::reporters
