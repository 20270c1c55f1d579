#include "reporters/document/advice.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/model/metric.hpp"
#include "reporters/document/advice_words.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::string_view front_spec = R"json({
"width": 640, "height": 320,
"data": {"values": []},
"usermeta": {"room": 80},
"encoding": {
  "x": {"field": "time", "type": "quantitative", "scale": {"zero": false}},
  "y": {"field": "memory", "type": "quantitative", "scale": {"zero": true}},
  "shape": {"field": "stage", "type": "nominal", "title": "stage", "legend": {"orient": "top"}},
  "tooltip": [{"field": "setting"}, {"field": "memory_text", "title": "memory"}, {"field": "time_text", "title": "time"},
    {"field": "stage"}, {"field": "outcome"}]},
"layer": [
  {"mark": {"type": "point", "filled": true, "size": 80, "opacity": 1},
   "encoding": {"color": {"field": "outcome", "type": "nominal", "title": "outcome", "legend": {"orient": "top"}}}},
  {"transform": [{"filter": "datum.named"}],
   "mark": {"type": "text", "style": "value", "align": "left", "dx": 8},
   "encoding": {"text": {"field": "setting", "type": "nominal"}}}
]})json";

std::string stage_text(const AdviceTry& tried)
{
    switch (tried.stage) {
    case measure::AdviceStage::untried:
        return tried.predicted ? "replayed" : "not tried";
    case measure::AdviceStage::race:
        return "race";
    case measure::AdviceStage::rerun:
        return "race, again";
    case measure::AdviceStage::confirmation:
        break;
    }
    return "pairs";
}

std::string outcome_text(const AdviceTry& tried)
{
    return tried.dropped.empty() ? "advice" : std::string{dropped_text(tried.dropped)};
}

Cell ratio_cell(const std::optional<double>& value, const std::optional<double>& base)
{
    return value && base && *base > 0 ? Cell{.text = fmt::format("x{:.2f}", *value / *base)} : Cell{};
}

std::vector<Cell> default_row(const AdviceReport& report)
{
    return {{"as it is"},
            value_cell(median_of(report.default_memory), model::Unit::bytes),
            {},
            {},
            value_cell(median_of(report.default_time), model::Unit::seconds),
            {},
            count_cell(report.default_memory.size()),
            {},
            {}};
}

std::vector<Cell> tried_row(const AdviceReport& report, const AdviceTry& tried)
{
    const Tone tone = tried.dropped.empty() ? Tone::good : Tone::plain;
    return {{inert_text(tried.settings.text), {}, {}, tone},
            value_cell(tried.memory, model::Unit::bytes),
            ratio_cell(tried.memory, median_of(report.default_memory)),
            value_cell(tried.predicted, model::Unit::bytes),
            value_cell(tried.time, model::Unit::seconds),
            ratio_cell(tried.time, median_of(report.default_time)),
            count_cell(tried.runs),
            {std::string{claim_of(report, tried)}, {}, {}, tone},
            {fmt::format("{}: {}", stage_text(tried), outcome_text(tried)), {}, {}, tone}};
}

void drop_predictions(Table& table)
{
    constexpr std::ptrdiff_t place = 3;
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows) {
        row.erase(row.begin() + place);
    }
}

// The least memory first, and the advice before all.
Table tried_table(const AdviceReport& report)
{
    Table table{.title = "What was tried",
                .note = fmt::format("medians of real runs; memory is the resident set at the {}{}", report.wanted_at,
                                    report.replays == 0 ? ""
                                                        : "; predicted: as it is, and what the replay of a recording "
                                                          "holds more or less under the setting"),
                .columns = {Column::word_key("setting"), Column::number("memory"), Column::number("ratio"),
                            Column::number("predicted"),
                            Column::number(report.keep == "wall_time" ? "wall time" : "CPU time"),
                            Column::number("ratio"), Column::number("runs"), Column::word("memory is"),
                            Column::word("outcome")}};
    table.rows.push_back(default_row(report));
    std::vector<const AdviceTry*> order;
    for (const AdviceTry& one : report.tried) {
        if (one.memory || one.predicted) {
            order.push_back(&one);
        }
    }
    std::ranges::stable_sort(order, {}, [](const AdviceTry* one) {
        return std::tuple{!one->dropped.empty(), !one->memory, one->memory ? *one->memory : *one->predicted};
    });
    for (const AdviceTry* one : order) {
        table.rows.push_back(tried_row(report, *one));
    }
    if (report.replays == 0) {
        drop_predictions(table);
    }
    return table;
}

// What has no figures, or does not count for a reason of its own.
Table left_out_table(const AdviceReport& report)
{
    Table table{.title = "What is left out, and why",
                .columns = {Column::word_key("setting"), Column::word("outcome"), Column::text("why")}};
    for (const AdviceTry& one : report.tried) {
        if ((!one.memory && !one.predicted) || !one.why.empty()) {
            table.rows.push_back({{inert_text(one.settings.text)}, {outcome_text(one)}, {inert_text(one.why)}});
        }
    }
    return table;
}

void add_point(const AdviceReport& report, const AdviceTry& tried, const ChartUnit& bytes, const ChartUnit& seconds,
               Json& values)
{
    if (!tried.memory || !tried.time) {
        return;
    }
    values.push_back({{"setting", inert_text(tried.settings.text)},
                      {"memory", chart_number(*tried.memory / bytes.factor)},
                      {"time", chart_number(*tried.time / seconds.factor)},
                      {"memory_text", value_text(*tried.memory, model::Unit::bytes)},
                      {"time_text", value_text(*tried.time, model::Unit::seconds)},
                      {"stage", stage_text(tried)},
                      {"outcome", outcome_text(tried)},
                      {"named", tried.dropped.empty() || tried.stage > measure::AdviceStage::race}});
    static_cast<void>(report);
}

std::vector<ChartSection> front_of(const AdviceReport& report)
{
    const auto memory = median_of(report.default_memory);
    const auto time = median_of(report.default_time);
    if (!memory || !time) {
        return {};
    }
    double most_memory = *memory;
    double most_time = *time;
    for (const AdviceTry& one : report.tried) {
        most_memory = std::max(most_memory, one.memory.value_or(0));
        most_time = std::max(most_time, one.time.value_or(0));
    }
    const ChartUnit bytes = chart_unit(model::Unit::bytes, most_memory);
    const ChartUnit seconds = chart_unit(model::Unit::seconds, most_time);
    Json values = Json::array();
    const AdviceTry as_it_is{.settings = {.text = "as it is"},
                             .stage = measure::AdviceStage::confirmation,
                             .dropped = "default",
                             .memory = memory,
                             .time = time};
    add_point(report, as_it_is, bytes, seconds, values);
    for (const AdviceTry& one : report.tried) {
        add_point(report, one, bytes, seconds, values);
    }
    Json spec = json_of(front_spec);
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["x"]["title"] =
        fmt::format("{} ({})", report.keep == "wall_time" ? "wall time" : "CPU time", seconds.name);
    spec["encoding"]["y"]["title"] = fmt::format("resident at the {} ({})", report.wanted_at, bytes.name);
    Chart chart{.title = "Memory against time",
                .about = "Each point is a setting, by the medians of its runs: lower is less memory, further left less "
                         "time.",
                .spoken = headline_of(report),
                .spec = std::move(spec),
                .data = {tried_table(report)}};
    return {{.title = "", .charts = {std::move(chart)}}};
}

Facts facts_of_advice(const AdviceReport& report)
{
    const AdvisedProgram& program = report.program;
    Facts facts;
    facts.list.push_back({"malloc", origin_text(program)});
    facts.list.push_back({"bound", fmt::format("no setting can return more than {}: what no file backs",
                                               base::format_size(program.bound_bytes))});
    facts.list.push_back({"threads", fmt::format("{}", program.threads)});
    facts.list.push_back({"end of work", report.end_when.empty() ? "its exit" : inert_text(report.end_when)});
    if (report.default_time.size() > 1) {
        facts.list.push_back(
            {"noise", fmt::format("two runs as it is differ by {} in time", percent_text(noise_of(report)))});
    }
    facts.list.push_back(
        {"cost", fmt::format("{} and {} in {}", plural(report.real_runs, "real run"), plural(report.replays, "replay"),
                             base::format_duration(report.seconds))});
    if (program.recorded_share) {
        facts.list.push_back({"recorded", fmt::format("a replay of its recording holds {:.0f} % of what no file backs",
                                                      *program.recorded_share * 100)});
    }
    facts.list.push_back(
        {"machine", fmt::format("{}, load {:.1f} at the start", inert_text(report.machine.cpu), report.load)});
    facts.list.push_back(
        {"holds for", "this work, this machine and these versions: ask again when one of them changes"});
    return facts;
}

}  // namespace

double noise_of(const AdviceReport& report)
{
    const auto middle = median_of(report.default_time);
    if (!middle || *middle <= 0 || report.default_time.size() < 2) {
        return 0;
    }
    double squares = 0;
    for (const double time : report.default_time) {
        squares += (time / *middle - 1) * (time / *middle - 1);
    }
    return std::sqrt(2 * squares / static_cast<double>(report.default_time.size() - 1));
}

std::string environment_line(const model::Variables& environment)
{
    std::string line;
    for (const auto& [name, value] : environment) {
        line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, value);
    }
    return line;
}

std::string systemd_lines(const model::Variables& environment)
{
    std::string lines = "[Service]\n";
    for (const auto& [name, value] : environment) {
        lines += fmt::format("Environment=\"{}={}\"\n", name, value);
    }
    return lines;
}

std::string dockerfile_line(const model::Variables& environment)
{
    std::string line = "ENV";
    for (const auto& [name, value] : environment) {
        line += fmt::format(" {}=\"{}\"", name, value);
    }
    return line;
}

Document document(const AdviceReport& report)
{
    Document document{.kicker = "memsweep advise",
                      .title = inert_text(command_line(report.command)),
                      .description = "Which allocator and which settings, tried on the program itself."};
    const Tone tone = report.verdict == AdviceVerdict::change           ? Tone::good
                      : report.verdict == AdviceVerdict::unsafe         ? Tone::bad
                      : report.verdict == AdviceVerdict::predicted_only ? Tone::caution
                                                                        : Tone::plain;
    document.add(Opening{.headline = {headline_of(report), tone}});
    if (report.best) {
        const model::Variables& environment = report.tried[*report.best].settings.environment;
        document.add(Items{.items = {{.text = environment_line(environment), .below = {}, .is_command = true}}});
        Items services;
        services.items.push_back({.text = "systemd: systemctl edit SERVICE", .below = {}});
        for (const auto& [name, value] : environment) {
            services.items.back().below.push_back(
                {.text = fmt::format("Environment=\"{}={}\"", name, value), .below = {}, .is_command = true});
        }
        services.items.push_back(
            {.text = "Dockerfile", .below = {{.text = dockerfile_line(environment), .below = {}, .is_command = true}}});
        document.add(std::move(services), Weight::support);
    }
    for (const std::string& warning : report.warnings) {
        document.add(Paragraph{inert_text(warning), Tone::caution});
    }
    if (!report.default_memory.empty()) {
        document.add(Charts{.title = "Memory against time", .sections = [&report] { return front_of(report); }},
                     Weight::support);
        document.add(TableBlock{.table = tried_table(report), .id = "tried", .is_sortable = true}, Weight::support);
    }
    document.add_table(TableBlock{.table = left_out_table(report), .id = "left_out"}, Weight::reference);
    document.add(facts_of_advice(report), Weight::support);
    return document;
}

}  // namespace memsweep::reporters
