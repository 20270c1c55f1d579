#include "reporters/json_writer.hpp"

#include <map>

#include "reporters/json_parts.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

constexpr int format_version = 1;

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

Json json_scenario(const model::RunInfo& run)
{
    return {{"name", json_text(run.scenario_name)},
            {"path", json_text(run.scenario_path)},
            {"sha256", json_text(run.scenario_sha256)},
            {"fingerprint", json_text(run.scenario_fingerprint)},
            {"description", json_text(run.scenario_description)}};
}

Json json_run(const model::RunInfo& run)
{
    return {{"id", json_text(run.id)},
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

Json json_calibration(const model::Calibration& calibration)
{
    return {{"harness_time_per_op", json_number(calibration.harness_seconds_per_op)},
            {"clock_read_time", json_number(calibration.clock_read_seconds)}};
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
            {"assertions_warned", counts.assertions_warned}};
}

}  // namespace

std::string to_json(const model::RunReport& report)
{
    const Json document = {{"format", "memsweep-result"},
                           {"format_version", format_version},
                           {"tool", json_tool(report.tool)},
                           {"run", json_run(report.run)},
                           {"machine", json_machine(report.machine)},
                           {"calibration", json_calibration(report.calibration)},
                           {"warnings", json_list(report.warnings, json_warning)},
                           {"cases", json_list(report.cases, json_case)},
                           {"matrices", Json::array()},
                           {"assertions", json_list(report.assertions, json_assertion)},
                           {"summary", json_counts(model::count(report))}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
