#include "reporters/document/run_facts.hpp"

#include <map>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

std::string known(const std::string& text)
{
    return text.empty() ? "unknown" : text;
}

std::string size(std::uint64_t bytes)
{
    return base::format_size(static_cast<double>(bytes));
}

std::string pairs(const std::map<std::string, std::string>& map)
{
    std::string text;
    for (const auto& [key, value] : map) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
    }
    return text;
}

std::string cgroup_limit(const model::Machine& machine)
{
    const std::string version =
        machine.cgroup_version.empty() ? "" : fmt::format(" (cgroup {})", machine.cgroup_version);
    return (machine.cgroup_memory_max ? size(*machine.cgroup_memory_max) : "none") + version;
}

std::string devices(const model::Machine& machine)
{
    std::string text;
    for (const std::string& device : machine.devices) {
        text += (text.empty() ? "" : ", ") + device;
    }
    return text.empty() ? "none" : text;
}

std::string tool_text(const model::ToolInfo& tool)
{
    const std::string sanitizer = tool.sanitizer.empty() ? "" : fmt::format(", {} sanitizer", tool.sanitizer);
    return fmt::format("{} {} ({}), {} build by {}{}", tool.name, tool.version, tool.commit, tool.build_type,
                       tool.compiler, sanitizer);
}

void add_if_there(std::vector<Fact>& facts, std::string_view name, const std::string& text)
{
    if (!text.empty()) {
        facts.push_back({std::string{name}, text});
    }
}

}  // namespace

std::vector<Fact> run_facts(const model::RunReport& report)
{
    const model::RunInfo& run = report.run;
    std::vector<Fact> facts;
    facts.push_back({"Command", command_line(run.argv)});
    facts.push_back({"Scenario", run.scenario_path.empty() ? run.scenario_name : run.scenario_path});
    facts.push_back({"Started", known(run.started)});
    facts.push_back({"Ended", run.ended.empty() ? "not yet" : run.ended});
    facts.push_back({"Exit code", fmt::format("{}", run.exit_code)});
    facts.push_back({"Order", fmt::format("{}, seed {}", model::name_of(run.order), run.seed)});
    facts.push_back({"Isolation", std::string{model::name_of(run.isolation)}});
    add_if_there(facts, "Overrides", pairs(run.overrides));
    add_if_there(facts, "Tags", pairs(run.tags));
    facts.push_back({"Tool", tool_text(report.tool)});
    add_if_there(facts, "Harness", harness_line(report.calibration));
    facts.push_back({"Run", run.id});
    facts.push_back({"Scenario fingerprint", run.scenario_fingerprint});
    return facts;
}

std::vector<Fact> machine_facts(const model::Machine& machine)
{
    return {{"Host", known(machine.host)},
            {"Processor", fmt::format("{}, {}, {}", known(machine.cpu), plural(machine.cores, "core"),
                                      plural(machine.numa_nodes, "NUMA node"))},
            {"Kernel", known(machine.kernel)},
            {"Memory", fmt::format("{}, swap {}", size(machine.memory_bytes), size(machine.swap_bytes))},
            {"Memory limit", cgroup_limit(machine)},
            {"Pages", fmt::format("{}, transparent huge pages: {}", size(machine.page_size), known(machine.thp))},
            {"Overcommit", known(machine.overcommit)},
            {"Governor", known(machine.governor)},
            {"Address randomisation", known(machine.aslr)},
            {"Virtualisation", known(machine.virtualisation)},
            {"DAMON", known(machine.damon)},
            {"Devices", devices(machine)},
            {"Machine fingerprint", machine.fingerprint}};
}

std::string harness_line(const model::Calibration& calibration)
{
    if (!calibration.harness_seconds_per_op) {
        return "";
    }
    const std::string clock =
        calibration.clock_read_seconds
            ? fmt::format(", a clock reading {}", base::format_duration(*calibration.clock_read_seconds))
            : "";
    return fmt::format("an allocate and drop without memory costs {}{}",
                       base::format_duration(*calibration.harness_seconds_per_op), clock);
}

std::string machine_line(const model::Machine& machine)
{
    return fmt::format("{}: {}, {}, {} of memory, THP {}, kernel {}", known(machine.host), known(machine.cpu),
                       plural(machine.cores, "core"), size(machine.memory_bytes), known(machine.thp),
                       known(machine.kernel));
}

}  // namespace memsweep::reporters
