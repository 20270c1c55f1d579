#include "reporters/json/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/summary.hpp"
#include "reporters/json/finding_values.hpp"
#include "reporters/json/json_document.hpp"
#include "reporters/json/result_members.hpp"
#include "reporters/wording/case_words.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::uint64_t result_version = 1;

template <typename Item>
void add_list(JsonStream& out, std::string_view key, const std::vector<Item>& items)
{
    out.add_list(key, items, [](const Item& item) { return json_value(item); });
}

template <typename Item>
void add_unless_empty(JsonStream& out, std::string_view key, const std::vector<Item>& items)
{
    if (!items.empty()) {
        add_list(out, key, items);
    }
}

Json trim_json(model::TrimHow how)
{
    return {{"how", how}, {"does", model::meaning_of(how)}, {"contents", model::contents_after(how)}};
}

Json metric_json(const model::Metric& metric, Summaries summaries)
{
    Json json = json_value(metric);
    if (!metric.summary && summaries == Summaries::complete) {
        json["summary"] = json_value(measure::summarize(metric.values));
    }
    return json;
}

void write_metrics(const std::vector<model::Metric>& metrics, Summaries summaries, JsonStream& out)
{
    out.key("metrics");
    out.open_object();
    for (const model::Metric& metric : metrics) {
        out.add(metric.name, metric_json(metric, summaries));
    }
    out.close();
}

// List by list, metric by metric; read_case() of json_document.cpp reads it.
void write_case(const model::CaseReport& report, Summaries summaries, JsonStream& out)
{
    out.open_object();
    out.add("id", report.id);
    out.add("scenario", report.scenario);
    out.add("params", json_params(report.params));
    out.add("status", report.status);
    out.add("reason", json_text_or_null(report.reason));
    out.add("repetitions", report.repetitions);
    out.add("planned_repetitions", report.planned_repetitions);
    if (!report.fingerprint.empty()) {
        out.add("fingerprint", report.fingerprint);
    }
    if (!report.command.empty()) {
        out.add("command", repaired_utf8(report.command));
    }
    write_metrics(report.metrics, summaries, out);
    add_list(out, "points", report.points);
    add_list(out, "phases", report.phases);
    add_list(out, "series", report.series);
    if (!report.release.mode.empty()) {
        out.add("release", json_value(report.release));
    }
    if (!report.allocator.name.empty()) {
        out.add("allocator", json_value(report.allocator));
    }
    if (!report.facts.empty()) {
        out.add("facts", json_params(report.facts));
    }
    if (report.names) {
        out.add("names", json_value(*report.names));
    }
    add_unless_empty(out, "defects", report.defects);
    add_unless_empty(out, "call_times", report.call_times);
    if (report.operation != model::CountedOperation::array) {
        out.add("operation", report.operation);
    }
    if (!report.trims.empty()) {
        out.add_list("trims", report.trims, trim_json);
    }
    out.close();
}

void write_cases(const std::vector<model::CaseReport>& cases, Summaries summaries, JsonStream& out)
{
    out.key("cases");
    out.open_list();
    for (const model::CaseReport& one : cases) {
        write_case(one, summaries, out);
    }
    out.close();
}

Json contrast_json(const measure::CaseContrast& contrast)
{
    const auto& attribution = contrast.attribution;
    Json json{{"axis", contrast.axis},          {"base", contrast.base->id},
              {"case", contrast.other->id},     {"ratio", contrast.time ? Json(contrast.time->ratio.estimate) : Json()},
              {"sentence", sentence(contrast)}, {"attribution", nullptr}};
    if (attribution) {
        json["attribution"] = {{"unit", "s"},
                               {"per_operation", attribution->per_operation},
                               {"extra", attribution->extra},
                               {"page_faults", attribution->faults},
                               {"allocator", attribution->allocator},
                               {"collector_wait", attribution->waiting},
                               {"run_delay", attribution->run_delay},
                               {"unexplained", attribution->unexplained},
                               {"explained", attribution->explained},
                               {"extra_faults", attribution->extra_faults}};
    }
    return json;
}

Json place_matrix_json(const measure::PlaceMatrix& matrix)
{
    Json values = Json::array();
    Json reasons = Json::object();
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
        Json line = Json::array();
        for (std::size_t col = 0; col < matrix.cols.size(); ++col) {
            const measure::PlaceMatrix::Cell& cell = matrix.cells[row][col];
            line.push_back(cell.value);
            if (!cell.value) {
                reasons[fmt::format("{},{}", row, col)] = no_value_text(cell);
            }
        }
        values.push_back(std::move(line));
    }
    return {{"name", matrix.name},         {"unit", matrix.unit},         {"better", matrix.better},
            {"row_role", matrix.row_role}, {"col_role", matrix.col_role}, {"rows", matrix.rows},
            {"cols", matrix.cols},         {"values", std::move(values)}, {"reasons", std::move(reasons)}};
}

void write_report(const model::RunReport& report, Summaries summaries, TextSink& sink)
{
    JsonStream out{sink};
    out.open_object();
    out.add("format", "memsweep-result");
    out.add("format_version", result_version);
    out.add("tool", json_value(report.tool));
    out.add("run", json_value(report.run));
    out.add("machine", json_value(report.machine));
    out.add("calibration", json_value(report.calibration));
    out.add("warnings", json_value(report.warnings));
    write_cases(report.cases, summaries, out);
    out.add("matrices", json_list(measure::place_matrices(report.cases), place_matrix_json));
    out.add("contrasts", json_list(measure::case_contrasts(report.cases), contrast_json));
    const std::vector<measure::Finding> findings = measure::findings(report);
    out.add("findings", json_list(findings, said));
    out.add("finding_values", json_list(findings, finding_json));
    out.add("assertions", json_value(report.assertions));
    add_unless_empty(out, "sites", report.sites);
    out.add("summary", json_value(model::count(report)));
    out.close();
    sink.add("\n");
}

// Only a document that says it is a result of a known version is looked into further.
bool is_readable_result(const JsonNode& root)
{
    if (!root.has("format") || !root.has("format_version")) {
        root.report("no memsweep result: \"format\" and \"format_version\" are missing");
        return false;
    }
    if (const std::string format = root.at("format").text(); format != "memsweep-result") {
        root.report(fmt::format("the format is \"{}\"; expected \"memsweep-result\"", format));
        return false;
    }
    if (const auto version = root.at("format_version").integer<std::uint64_t>();
        version < 1 || version > result_version) {
        root.report(
            fmt::format("the result has format_version {}; this memsweep reads version {}", version, result_version));
        return false;
    }
    return true;
}

model::RunReport read_report(const JsonNode& root)
{
    model::RunReport report;
    const MemberReader io{root};
    io("tool", report.tool);
    io("run", report.run);
    io("machine", report.machine);
    io("calibration", report.calibration, member::added);
    io("warnings", report.warnings);
    io.taken_out("cases", report.cases);
    io("assertions", report.assertions);
    io("sites", report.sites, member::left_out);
    return report;
}

}  // namespace

Json absence_reason(const model::Metric& metric)
{
    const bool not_finite = std::ranges::any_of(metric.values, [](const auto& v) { return v && !std::isfinite(*v); });
    return metric.reason.empty() && not_finite ? Json("not a finite number") : json_text_or_null(metric.reason);
}

void write_json(const model::RunReport& report, TextSink& sink)
{
    write_report(report, Summaries::complete, sink);
}

std::string to_json(const model::RunReport& report, Summaries summaries)
{
    return whole_text([&](TextSink& sink) { write_report(report, summaries, sink); });
}

base::Expected<model::RunReport> read_json(std::string_view text, const std::string& where)
{
    auto document = MEMSWEEP_TRY(parse_result(text, where));
    Problem problem;
    const JsonNode root{document.rest, problem};
    model::RunReport report = is_readable_result(root) ? read_report(root) : model::RunReport{};
    problem = problem ? problem : document.problem;
    if (problem) {
        return base::fail(base::ErrorCode::invalid_input, *problem, where);
    }
    report.cases = std::move(document.cases);
    return report;
}

}  // namespace memsweep::reporters
