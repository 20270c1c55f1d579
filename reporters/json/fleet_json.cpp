#include "reporters/json/fleet_json.hpp"

#include <numeric>

#include <fmt/format.h>

#include "core/measure/fleet.hpp"
#include "reporters/json/json_document.hpp"
#include "reporters/json/result_members.hpp"
#include "reporters/wording/fleet_words.hpp"

namespace memsweep::reporters {

template <typename Io>
void members(Io& io, PartOf<Io, model::FleetProblem>& problem)
{
    io("case", problem.case_id, member::nullable);
    io("status", problem.status);
    io("reason", problem.reason);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::FleetHost>& host)
{
    io("name", host.name);
    io("sources", host.sources);
    io("run_ids", host.run_ids);
    io("started", host.started);
    io("ended", host.ended, member::nullable);
    io("version", host.version);
    io("exit_code", host.exit_code);
    io("interrupted", host.interrupted);
    io("machine", host.machine);
    io("tags", host.tags);
    io("summary", host.counts);
    io("problems", host.problems);
}

template <typename Io>
void members(Io& io, PartOf<Io, model::FleetMetric>& metric)
{
    io("scenario", metric.scenario);
    io("case", metric.case_id);
    io("metric", metric.name);
    io("unit", metric.unit);
    io("better", metric.better);
    io("class", metric.metric_class);
    io("n", metric.n);
    io("median", metric.median);
    io("mad", metric.mad);
    io.with_default("low", metric.low, [&] { return metric.median; });
    io.with_default("high", metric.high, [&] { return metric.median; });
}

template <typename Io>
void members(Io& io, PartOf<Io, model::FleetMatrix>& matrix)
{
    io("name", matrix.name);
    io("unit", matrix.unit);
    io("better", matrix.better);
    io("hosts", matrix.hosts);
    io("values", matrix.values);
}

namespace {

using measure::FleetJudgement;
using model::Fleet;

constexpr std::uint64_t fleet_version = 1;

// The members of the run; the parts of a fleet stand beside it.
template <typename Io>
void run_members(Io& io, PartOf<Io, Fleet>& fleet)
{
    io("id", fleet.id);
    io("started", fleet.started);
    io("ended", fleet.ended, member::nullable);
    io("argv", fleet.argv);
    io("exit_code", fleet.exit_code);
    io("scenario", fleet.scenario);
    io("description", fleet.description, MemberRule{.may_be_null = true});
    io("fingerprint", fleet.scenario_fingerprint);
}

Json run_json(const Fleet& fleet)
{
    MemberWriter run;
    run_members(run, fleet);
    return run.take();
}

std::string_view rule_name(measure::PeerRule rule)
{
    return rule == measure::PeerRule::test ? "test" : rule == measure::PeerRule::few ? "few" : "counter";
}

Json outlier_json(const Fleet& fleet, const measure::Outlier& outlier)
{
    const model::FleetMetric& metric = fleet.metrics[outlier.metric];
    return {{"host", fleet.hosts[outlier.host].name},
            {"case", metric.case_id},
            {"metric", metric.name},
            {"unit", metric.unit},
            {"value", outlier.value},
            {"median", outlier.median},
            {"rule", rule_name(outlier.rule)},
            {"z", outlier.z},
            {"q", outlier.q},
            {"worse", outlier.is_worse}};
}

void write_judgement(const Fleet& fleet, const FleetJudgement& judgement, JsonStream& out)
{
    out.key("judgement");
    out.open_object();
    out.add("healthy", measure::is_healthy(fleet, judgement));
    out.add("tests", std::accumulate(judgement.tests.begin(), judgement.tests.end(), std::size_t{0}));
    out.add("kinds", judgement.kinds);
    out.add_list("bad_hosts", judgement.bad, [&](const measure::BadHost& bad) { return fleet.hosts[bad.host].name; });
    out.add_list("outliers", judgement.outliers,
                 [&](const measure::Outlier& outlier) { return outlier_json(fleet, outlier); });
    out.add_list("shared_tags", judgement.shared, [](const measure::SharedTag& tag) {
        return Json{{"tag", tag.name}, {"value", tag.value}, {"bad", tag.bad}, {"hosts", tag.hosts}, {"q", tag.q}};
    });
    out.add_list("odd_facts", judgement.odd_facts, [&](const measure::OddFact& odd) {
        return Json{{"host", fleet.hosts[odd.host].name},
                    {"fact", odd.fact},
                    {"value", odd.value},
                    {"usual", odd.usual},
                    {"agreeing", odd.agreeing}};
    });
    out.add_list("unjudged", judgement.unjudged, small_kind_text);
    out.close();
}

void check_column(const JsonNode& node, std::vector<double>& column, std::size_t hosts)
{
    if (column.size() != hosts) {
        node.report(fmt::format("{} values for {} hosts", column.size(), hosts));
        column.resize(hosts);
    }
}

model::FleetMetric read_fleet_metric(const JsonNode& node, std::size_t hosts)
{
    auto metric = read_value<model::FleetMetric>(node);
    if (metric.n.size() != hosts) {
        node.report(fmt::format("{} counts for {} hosts", metric.n.size(), hosts));
        metric.n.resize(hosts);
    }
    check_column(node.at("median"), metric.median, hosts);
    check_column(node.at("mad"), metric.mad, hosts);
    check_column(node.at(node.has("low") ? "low" : "median"), metric.low, hosts);
    check_column(node.at(node.has("high") ? "high" : "median"), metric.high, hosts);
    return metric;
}

model::FleetMatrix read_fleet_matrix(const JsonNode& node)
{
    auto matrix = read_value<model::FleetMatrix>(node);
    auto row = matrix.values.begin();
    node.at("values").for_each_element(
        [&](const JsonNode& values) { check_column(values, *row++, matrix.hosts.size()); });
    if (matrix.values.size() != matrix.hosts.size()) {
        node.report("a matrix has a row for every host");
        matrix.values.resize(matrix.hosts.size());
    }
    return matrix;
}

Fleet read_fleet_parts(const JsonNode& root)
{
    Fleet fleet;
    if (const auto version = root.at("format_version").integer<std::uint64_t>();
        version < 1 || version > fleet_version) {
        root.report(
            fmt::format("the fleet has format_version {}; this memsweep reads version {}", version, fleet_version));
        return fleet;
    }
    const MemberReader io{root};
    io("tool", fleet.tool);
    io.object("run", [&](auto& run) { run_members(run, fleet); });
    io("expected", fleet.expected);
    io("missing", fleet.missing);
    io("warnings", fleet.warnings);
    io("hosts", fleet.hosts);
    root.at("metrics").for_each_element(
        [&](const JsonNode& metric) { fleet.metrics.push_back(read_fleet_metric(metric, fleet.hosts.size())); });
    root.at("matrices").for_each_element([&](const JsonNode& matrix) {
        fleet.matrices.push_back(read_fleet_matrix(matrix));
    });
    if (fleet.hosts.empty()) {
        root.report("a fleet has hosts");
    }
    return fleet;
}

}  // namespace

bool is_fleet(std::string_view text)
{
    constexpr std::size_t opening = 256;
    const std::string_view start = text.substr(0, opening);
    const std::size_t key = start.find("\"format\"");
    return key != std::string_view::npos && start.find("\"memsweep-fleet\"", key) != std::string_view::npos;
}

void write_fleet_json(const Fleet& fleet, TextSink& sink)
{
    const auto part = [](const auto& item) { return json_value(item); };
    JsonStream out{sink};
    out.open_object();
    out.add("format", "memsweep-fleet");
    out.add("format_version", fleet_version);
    out.add("tool", json_value(fleet.tool));
    out.add("run", run_json(fleet));
    out.add("expected", json_value(fleet.expected));
    out.add("missing", fleet.missing);
    out.add("warnings", json_value(fleet.warnings));
    out.add_list("hosts", fleet.hosts, part);
    out.add_list("metrics", fleet.metrics, part);
    out.add_list("matrices", fleet.matrices, part);
    write_judgement(fleet, measure::judge_fleet(fleet), out);
    out.close();
    sink.add("\n");
}

base::Expected<Fleet> read_fleet(std::string_view text, const std::string& where)
{
    auto document = MEMSWEEP_TRY(parse_result(text, where));
    Problem problem;
    Fleet fleet = read_fleet_parts(JsonNode{document.rest, problem});
    problem = problem ? problem : document.problem;
    if (problem) {
        return base::fail(base::ErrorCode::invalid_input, *problem, where);
    }
    return fleet;
}

}  // namespace memsweep::reporters
