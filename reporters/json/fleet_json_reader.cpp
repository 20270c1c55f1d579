#include <algorithm>

#include <fmt/format.h>

#include "reporters/json/fleet_json.hpp"
#include "reporters/json/json_document.hpp"
#include "reporters/json/json_reader_parts.hpp"

namespace memsweep::reporters {
namespace {

using model::Fleet;

constexpr std::uint64_t newest_fleet_version = 1;

std::vector<double> read_column(const Node& node, std::size_t hosts)
{
    std::vector<double> column = read_list(node, [](const Node& value) { return value.number(); });
    if (column.size() != hosts) {
        node.report(fmt::format("{} values for {} hosts", column.size(), hosts));
        column.resize(hosts);
    }
    return column;
}

model::FleetProblem read_problem(const Node& node)
{
    return {node.at("case").text_or_empty(), node.at("status").named<model::Status>(), node.at("reason").text()};
}

model::Counts read_counts(const Node& node)
{
    const auto count = [&](std::string_view key) { return node.at(key).integer<std::uint64_t>(); };
    return {.cases = count("cases"),
            .ok = count("ok"),
            .skipped = count("skipped"),
            .failed = count("failed"),
            .errors = count("errors"),
            .timeouts = count("timeouts"),
            .assertions_failed = count("assertions_failed"),
            .assertions_warned = count("assertions_warned"),
            .assertions_not_evaluated = count("assertions_not_evaluated")};
}

model::FleetHost read_host(const Node& node)
{
    model::FleetHost host;
    host.name = node.at("name").text();
    host.sources = read_texts(node.at("sources"));
    host.run_ids = read_texts(node.at("run_ids"));
    host.started = node.at("started").text();
    host.ended = node.at("ended").text_or_empty();
    host.version = node.at("version").text();
    host.exit_code = node.at("exit_code").integer<int>();
    host.interrupted = node.at("interrupted").flag();
    host.machine = read_machine(node.at("machine"));
    node.at("tags").for_each_member(
        [&](const std::string& name, const Node& value) { host.tags[name] = value.text(); });
    host.counts = read_counts(node.at("summary"));
    host.problems = read_list(node.at("problems"), read_problem);
    return host;
}

model::FleetMetric read_fleet_metric(const Node& node, std::size_t hosts)
{
    model::FleetMetric metric;
    metric.scenario = node.at("scenario").text();
    metric.case_id = node.at("case").text();
    metric.name = node.at("metric").text();
    metric.unit = node.at("unit").named<model::Unit>();
    metric.better = node.at("better").named<model::Better>();
    metric.metric_class = node.at("class").named<model::MetricClass>();
    metric.n = read_list(node.at("n"), [](const Node& count) { return count.integer<std::uint32_t>(); });
    if (metric.n.size() != hosts) {
        node.report(fmt::format("{} counts for {} hosts", metric.n.size(), hosts));
        metric.n.resize(hosts);
    }
    metric.median = read_column(node.at("median"), hosts);
    metric.mad = read_column(node.at("mad"), hosts);
    metric.low = node.has("low") ? read_column(node.at("low"), hosts) : metric.median;
    metric.high = node.has("high") ? read_column(node.at("high"), hosts) : metric.median;
    return metric;
}

model::FleetMatrix read_matrix(const Node& node)
{
    model::FleetMatrix matrix;
    matrix.name = node.at("name").text();
    matrix.unit = node.at("unit").named<model::Unit>();
    matrix.better = node.at("better").named<model::Better>();
    matrix.hosts = read_texts(node.at("hosts"));
    matrix.values =
        read_list(node.at("values"), [&](const Node& row) { return read_column(row, matrix.hosts.size()); });
    if (matrix.values.size() != matrix.hosts.size()) {
        node.report("a matrix has a row for every host");
        matrix.values.resize(matrix.hosts.size());
    }
    return matrix;
}

void read_fleet_run(const Node& node, Fleet& fleet)
{
    fleet.id = node.at("id").text();
    fleet.started = node.at("started").text();
    fleet.ended = node.at("ended").text_or_empty();
    fleet.argv = read_texts(node.at("argv"));
    fleet.exit_code = node.at("exit_code").integer<int>();
    fleet.scenario = node.at("scenario").text();
    fleet.description = node.at("description").text_or_empty();
    fleet.scenario_fingerprint = node.at("fingerprint").text();
}

Fleet read_document(const Node& root)
{
    Fleet fleet;
    if (const auto version = root.at("format_version").integer<std::uint64_t>();
        version < 1 || version > newest_fleet_version) {
        root.report(fmt::format("the fleet has format_version {}; this memsweep reads version {}", version,
                                newest_fleet_version));
        return fleet;
    }
    fleet.tool = read_tool(root.at("tool"));
    read_fleet_run(root.at("run"), fleet);
    if (const Node expected = root.at("expected"); !expected.is_null()) {
        fleet.expected = expected.integer<std::uint64_t>();
    }
    fleet.missing = read_texts(root.at("missing"));
    fleet.warnings = read_list(root.at("warnings"), read_warning);
    fleet.hosts = read_list(root.at("hosts"), read_host);
    fleet.metrics =
        read_list(root.at("metrics"), [&](const Node& node) { return read_fleet_metric(node, fleet.hosts.size()); });
    fleet.matrices = read_list(root.at("matrices"), read_matrix);
    if (fleet.hosts.empty()) {
        root.report("a fleet has hosts");
    }
    return fleet;
}

}  // namespace

base::Expected<Fleet> read_fleet(std::string_view text, const std::string& where)
{
    auto document = parse_result(text, where);
    if (!document) {
        return base::fail(document.error());
    }
    Problem problem;
    Fleet fleet = read_document(Node{document->rest, problem});
    problem = problem ? problem : document->problem;
    if (problem) {
        return base::fail(base::ErrorCode::invalid_input, *problem, where);
    }
    return fleet;
}

}  // namespace memsweep::reporters
