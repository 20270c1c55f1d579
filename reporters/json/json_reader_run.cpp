#include "reporters/json/json_reader_parts.hpp"

#include <map>

namespace memsweep::reporters {
namespace {

std::map<std::string, std::string> read_map(const Node& node)
{
    std::map<std::string, std::string> map;
    node.for_each_member([&](const std::string& key, const Node& value) { map[key] = value.text(); });
    return map;
}

void read_scenario(const Node& node, model::RunInfo& run)
{
    run.scenario_name = node.at("name").text();
    run.scenario_path = node.at("path").text();
    run.scenario_sha256 = node.at("sha256").text();
    run.scenario_fingerprint = node.at("fingerprint").text();
    run.scenario_description = node.has("description") ? node.at("description").text_or_empty() : std::string{};
}

std::string text_if_there(const Node& node, std::string_view key)
{
    return node.has(key) ? node.at(key).text_or_empty() : std::string{};
}

std::optional<std::uint32_t> count_if_there(const Node& node, std::string_view key)
{
    return node.has(key) && !node.at(key).is_null() ? std::optional{node.at(key).integer<std::uint32_t>()}
                                                    : std::nullopt;
}

model::LaunchPlace read_placement(const Node& node)
{
    return {.node = node.at("node").text(),
            .launcher = text_if_there(node, "launcher"),
            .job = text_if_there(node, "job"),
            .nodes = text_if_there(node, "nodes"),
            .partition = text_if_there(node, "partition"),
            .cpus = text_if_there(node, "cpus"),
            .memory_nodes = text_if_there(node, "memory_nodes"),
            .rank = count_if_there(node, "rank"),
            .ranks = count_if_there(node, "ranks"),
            .local_rank = count_if_there(node, "local_rank"),
            .local_ranks = count_if_there(node, "local_ranks")};
}

}  // namespace

std::vector<std::string> read_texts(const Node& node)
{
    return read_list(node, [](const Node& text) { return text.text(); });
}

model::Warning read_warning(const Node& node)
{
    return {node.at("code").text(), node.at("message").text(), node.at("hint").text_or_empty()};
}

model::ToolInfo read_tool(const Node& node)
{
    constexpr std::string_view sanitizer = "sanitizer:";
    model::ToolInfo tool;
    tool.name = node.at("name").text();
    tool.version = node.at("version").text();
    tool.commit = node.at("git").text();
    tool.build_type = node.at("build_type").text();
    tool.compiler = node.at("compiler").text();
    node.at("features").for_each_element([&](const Node& feature) {
        const std::string text = feature.text();
        tool.sanitizer = text.starts_with(sanitizer) ? text.substr(sanitizer.size()) : tool.sanitizer;
    });
    return tool;
}

model::RunInfo read_run(const Node& node)
{
    model::RunInfo run;
    run.id = node.at("id").text();
    run.started = node.at("started").text();
    run.ended = node.at("ended").text_or_empty();
    run.argv = read_texts(node.at("argv"));
    run.exit_code = node.at("exit_code").integer<int>();
    run.order = node.at("order").named<model::Order>();
    run.seed = node.at("seed").integer<std::uint64_t>();
    run.isolation = node.has("isolation") ? node.at("isolation").named<model::Isolation>() : model::Isolation::process;
    run.interrupted = node.at("interrupted").flag();
    read_scenario(node.at("scenario"), run);
    run.overrides = read_map(node.at("overrides"));
    run.tags = read_map(node.at("tags"));
    if (node.has("placement")) {
        run.placement = read_placement(node.at("placement"));
    }
    return run;
}

model::Machine read_machine(const Node& node)
{
    model::Machine machine;
    machine.host = node.at("host").text();
    machine.kernel = node.at("kernel").text();
    machine.cpu = node.at("cpu").text();
    machine.cores = node.at("cores").integer<std::uint32_t>();
    machine.numa_nodes = node.at("numa_nodes").integer<std::uint32_t>();
    machine.page_size = node.at("page_size").integer<std::uint64_t>();
    machine.thp = node.at("thp").text();
    machine.overcommit = node.at("overcommit").text();
    machine.memory_bytes = node.at("memory").integer<std::uint64_t>();
    if (const Node limit = node.at("cgroup_memory_max"); !limit.is_null()) {
        machine.cgroup_memory_max = limit.integer<std::uint64_t>();
    }
    machine.cgroup_version = text_if_there(node, "cgroup_version");
    machine.governor = node.at("governor").text_or_empty();
    machine.aslr = node.at("aslr").text();
    machine.swap_bytes = node.at("swap").integer<std::uint64_t>();
    machine.virtualisation = text_if_there(node, "virtualisation");
    machine.damon = text_if_there(node, "damon");
    machine.devices = read_texts(node.at("devices"));
    machine.fingerprint = node.at("fingerprint").text();
    return machine;
}

model::Calibration read_calibration(const Node& root)
{
    if (!root.has("calibration")) {
        return {};
    }
    const Node node = root.at("calibration");
    return {node.at("harness_time_per_op").optional_number(), node.at("clock_read_time").optional_number()};
}

}  // namespace memsweep::reporters
