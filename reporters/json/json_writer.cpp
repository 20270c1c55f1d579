#include "reporters/json/json_writer.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/measure/mode_contrast.hpp"
#include "core/measure/place_matrix.hpp"
#include "reporters/json/json_parts.hpp"
#include "reporters/text/json_stream.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
Json json_texts(const std::vector<std::string>& texts)
{
    Json json = Json::array();
    for (const std::string& text : texts) {
        json.push_back(json_text(text));
    }
    return json;
}

Json json_map(const std::map<std::string, std::string>& map)
{
    Json json = Json::object();
    for (const auto& [key, value] : map) {
        json[repaired_utf8(key)] = json_text(value);
    }
    return json;
}

Json json_tool(const model::ToolInfo& tool)
{
    Json features = Json::array();
    if (!tool.sanitizer.empty()) {
        features.push_back(json_text("sanitizer:" + tool.sanitizer));
    }
    return {{"name", json_text(tool.name)},         {"version", json_text(tool.version)},
            {"git", json_text(tool.commit)},        {"build_type", json_text(tool.build_type)},
            {"compiler", json_text(tool.compiler)}, {"features", std::move(features)}};
}

Json json_machine(const model::Machine& machine)
{
    return {{"host", json_text(machine.host)},
            {"kernel", json_text(machine.kernel)},
            {"cpu", json_text(machine.cpu)},
            {"cores", machine.cores},
            {"numa_nodes", machine.numa_nodes},
            {"page_size", machine.page_size},
            {"thp", json_text(machine.thp)},
            {"overcommit", json_text(machine.overcommit)},
            {"memory", machine.memory_bytes},
            {"cgroup_memory_max", machine.cgroup_memory_max ? Json(*machine.cgroup_memory_max) : Json(nullptr)},
            {"cgroup_version", json_text(machine.cgroup_version)},
            {"governor", json_text_or_null(machine.governor)},
            {"aslr", json_text(machine.aslr)},
            {"swap", machine.swap_bytes},
            {"virtualisation", json_text(machine.virtualisation)},
            {"damon", json_text(machine.damon)},
            {"devices", json_texts(machine.devices)},
            {"fingerprint", json_text(machine.fingerprint)}};
}

Json json_counts(const model::Counts& counts)
{
    return {{"cases", counts.cases},
            {"ok", counts.ok},
            {"skipped", counts.skipped},
            {"failed", counts.failed},
            {"errors", counts.errors},
            {"timeouts", counts.timeouts},
            {"assertions_failed", counts.assertions_failed},
            {"assertions_warned", counts.assertions_warned},
            {"assertions_not_evaluated", counts.assertions_not_evaluated}};
}

namespace {

constexpr int result_version = 1;

Json json_scenario(const model::RunInfo& run)
{
    return {{"name", json_text(run.scenario_name)},
            {"path", json_text(run.scenario_path)},
            {"sha256", json_text(run.scenario_sha256)},
            {"fingerprint", json_text(run.scenario_fingerprint)},
            {"description", json_text(run.scenario_description)}};
}

Json json_count(std::optional<std::uint32_t> count)
{
    return count ? Json(*count) : Json(nullptr);
}

Json json_placement(const model::LaunchPlace& placement)
{
    return {{"node", json_text(placement.node)},
            {"launcher", json_text_or_null(placement.launcher)},
            {"job", json_text_or_null(placement.job)},
            {"nodes", json_text_or_null(placement.nodes)},
            {"partition", json_text_or_null(placement.partition)},
            {"rank", json_count(placement.rank)},
            {"ranks", json_count(placement.ranks)},
            {"local_rank", json_count(placement.local_rank)},
            {"local_ranks", json_count(placement.local_ranks)},
            {"cpus", json_text_or_null(placement.cpus)},
            {"memory_nodes", json_text_or_null(placement.memory_nodes)}};
}

Json json_run(const model::RunInfo& run)
{
    Json json{{"id", json_text(run.id)},
              {"started", json_text(run.started)},
              {"ended", json_text_or_null(run.ended)},
              {"argv", json_texts(run.argv)},
              {"exit_code", run.exit_code},
              {"order", json_text(model::name_of(run.order))},
              {"seed", run.seed},
              {"isolation", json_text(model::name_of(run.isolation))},
              {"interrupted", run.interrupted},
              {"scenario", json_scenario(run)},
              {"overrides", json_map(run.overrides)},
              {"tags", json_map(run.tags)}};
    if (run.placement) {
        json["placement"] = json_placement(*run.placement);
    }
    return json;
}

Json json_calibration(const model::Calibration& calibration)
{
    return {{"harness_time_per_op", json_number(calibration.harness_seconds_per_op)},
            {"clock_read_time", json_number(calibration.clock_read_seconds)}};
}

void write_cases(const std::vector<model::CaseReport>& cases, JsonStream& out)
{
    out.key("cases");
    if (cases.empty()) {
        out.add(Json::array());
        return;
    }
    out.open_list();
    for (const model::CaseReport& one : cases) {
        write_case(one, out);
    }
    out.close();
}

Json json_contrast(const measure::CaseContrast& contrast)
{
    const auto& attribution = contrast.attribution;
    Json json{{"axis", json_text(contrast.axis)},
              {"base", json_text(contrast.base->id)},
              {"case", json_text(contrast.other->id)},
              {"ratio", contrast.time ? json_number(contrast.time->ratio.estimate) : Json(nullptr)},
              {"sentence", json_text(contrast.sentence)},
              {"attribution", nullptr}};
    if (attribution) {
        json["attribution"] = {{"unit", "s"},
                               {"per_operation", attribution->per_operation},
                               {"extra", json_number(attribution->extra)},
                               {"page_faults", json_number(attribution->faults)},
                               {"allocator", json_number(attribution->allocator)},
                               {"collector_wait", json_number(attribution->waiting)},
                               {"run_delay", json_number(attribution->run_delay)},
                               {"unexplained", json_number(attribution->unexplained)},
                               {"explained", json_number(attribution->explained)},
                               {"extra_faults", json_number(attribution->extra_faults)}};
    }
    return json;
}

Json json_matrix(const measure::PlaceMatrix& matrix)
{
    Json values = Json::array();
    Json reasons = Json::object();
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
        Json line = Json::array();
        for (std::size_t col = 0; col < matrix.cols.size(); ++col) {
            const measure::PlaceMatrix::Cell& cell = matrix.cells[row][col];
            line.push_back(json_number(cell.value));
            if (!cell.value) {
                reasons[fmt::format("{},{}", row, col)] = json_text(cell.reason);
            }
        }
        values.push_back(std::move(line));
    }
    return {{"name", json_text(matrix.name)},
            {"unit", json_text(model::name_of(matrix.unit))},
            {"better", json_text(model::name_of(matrix.better))},
            {"row_role", json_text(matrix.row_role)},
            {"col_role", json_text(matrix.col_role)},
            {"rows", json_texts(matrix.rows)},
            {"cols", json_texts(matrix.cols)},
            {"values", std::move(values)},
            {"reasons", std::move(reasons)}};
}

}  // namespace

void write_json(const model::RunReport& report, TextSink& sink)
{
    JsonStream out{sink};
    out.open_object();
    out.add("format", "memsweep-result");
    out.add("format_version", result_version);
    out.add("tool", json_tool(report.tool));
    out.add("run", json_run(report.run));
    out.add("machine", json_machine(report.machine));
    out.add("calibration", json_calibration(report.calibration));
    out.add("warnings", json_list(report.warnings, json_warning));
    write_cases(report.cases, out);
    out.add("matrices", json_list(measure::place_matrices(report.cases), json_matrix));
    out.add("contrasts", json_list(measure::case_contrasts(report.cases), json_contrast));
    out.add("assertions", json_list(report.assertions, json_assertion));
    out.add("summary", json_counts(model::count(report)));
    out.close();
    sink.add("\n");
}

std::string to_json(const model::RunReport& report)
{
    return whole_text([&](TextSink& sink) { write_json(report, sink); });
}

}  // namespace memsweep::reporters
