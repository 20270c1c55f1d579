#include "core/measure/fleet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/base/host_list.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/format.hpp"
#include "core/measure/likeness.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::FleetMetric;
using model::RunReport;
using model::Status;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

void add_counts(const model::StatusCounts& from, model::StatusCounts& into)
{
    into.cases += from.cases;
    into.ok += from.ok;
    into.skipped += from.skipped;
    into.failed += from.failed;
    into.errors += from.errors;
    into.timeouts += from.timeouts;
    into.assertions_failed += from.assertions_failed;
    into.assertions_warned += from.assertions_warned;
    into.assertions_not_evaluated += from.assertions_not_evaluated;
}

// Too few values for an interval have that from the least to the greatest.
void add_host(std::vector<double>& values, FleetMetric& metric)
{
    std::ranges::sort(values);
    const model::Summary summary = values.empty()
                                       ? model::Summary{.median = absent, .mad = absent, .ci95 = {{absent, absent}}}
                                       : summary_of_sorted(values);
    const auto interval = summary.ci95.value_or(std::array{summary.min, summary.max});
    metric.n.push_back(static_cast<std::uint32_t>(values.size()));
    metric.median.push_back(summary.median);
    metric.mad.push_back(summary.mad);
    metric.low.push_back(interval[0]);
    metric.high.push_back(interval[1]);
}

}  // namespace

std::vector<model::FleetProblem> problems_of(const RunReport& report)
{
    std::vector<model::FleetProblem> problems;
    for (const CaseReport& one : report.cases) {
        if (one.status != Status::ok && one.status != Status::skipped) {
            problems.push_back({one.id, one.status, one.reason});
        }
    }
    for (const model::AssertionResult& one : report.assertions) {
        const bool counted = std::ranges::any_of(problems, [&](const model::FleetProblem& problem) {
            return !one.case_id.empty() && problem.case_id == one.case_id;
        });
        if (one.outcome == model::AssertionOutcome::failed && one.severity == model::Severity::fail && !counted) {
            problems.push_back(
                {one.case_id, Status::failed,
                 fmt::format("does not hold: {}{}{}", one.expression, one.reason.empty() ? "" : ": ", one.reason)});
        }
    }
    return problems;
}

std::string host_name(const RunReport& report)
{
    return report.run.placement && !report.run.placement->node.empty() ? report.run.placement->node
                                                                       : report.machine.host;
}

base::Expected<void> FleetBuilder::check(const std::string& source, const RunReport& report)
{
    const auto [owner, is_new] = owners_.emplace(report.run.id, source);
    if (!is_new) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("run {} is in {} too: give each run once", report.run.id, owner->second), source);
    }
    if (fleet_.hosts.empty()) {
        fleet_.tool = report.tool;
        fleet_.scenario = report.run.scenario_name;
        fleet_.description = report.run.scenario_description;
        fleet_.scenario_fingerprint = report.run.scenario_fingerprint;
        return {};
    }
    if (report.run.scenario_fingerprint == fleet_.scenario_fingerprint) {
        return {};
    }
    const bool same_probe = is_probe(report) && report.run.scenario_name == fleet_.scenario;
    if (!same_probe && !force_) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("measured another scenario ({}) than {} ({}), or with other settings; --force "
                                      "takes them into one fleet all the same",
                                      report.run.scenario_name, fleet_.hosts.front().sources.front(), fleet_.scenario),
                          source);
    }
    if (!any_unlike_) {
        any_unlike_ = true;
        fleet_.warnings.push_back({"fleet-unlike",
                                   fmt::format("the hosts did not all measure the same cases: {} and others", source),
                                   "what only some hosts measured is compared among those"});
    }
    return {};
}

std::size_t FleetBuilder::host_of(const RunReport& report)
{
    const std::string name = host_name(report);
    const auto [found, is_new] = hosts_.emplace(name, fleet_.hosts.size());
    if (is_new) {
        model::FleetHost& host = fleet_.hosts.emplace_back();
        host.name = name;
        host.machine = report.machine;
        host.started = report.run.started;
        host.ended = report.run.ended;
        host.version = version_text(report.tool);
    }
    return found->second;
}

std::size_t FleetBuilder::metric_of(const CaseReport& one, const model::Metric& metric)
{
    const auto is_it = [&](const FleetMetric& known) {
        return known.name == metric.name && known.case_id == one.id && known.scenario == one.scenario;
    };
    if (next_metric_ >= fleet_.metrics.size() || !is_it(fleet_.metrics[next_metric_])) {
        const auto [found, is_new] =
            metrics_.emplace(fmt::format("{}\n{}\n{}", one.scenario, one.id, metric.name), fleet_.metrics.size());
        next_metric_ = found->second;
        if (is_new) {
            FleetMetric& added = fleet_.metrics.emplace_back();
            added.scenario = one.scenario;
            added.case_id = one.id;
            added.name = metric.name;
            added.unit = metric.unit;
            added.better = metric.better;
            added.metric_class = metric.metric_class;
            values_.emplace_back();
        }
    }
    return next_metric_++;
}

void FleetBuilder::add_link(const CaseReport& one, const std::string& from, const std::string& to)
{
    std::string name = one.scenario;
    for (const model::Param& param : one.params) {
        if (param.name != from_host_param && param.name != to_host_param) {
            name += "/" + param_text(param);
        }
    }
    for (const model::Metric& metric : one.metrics) {
        if (metric.summary && model::shown_of(metric.name).is_sampled) {
            Link& link = links_[metric.name + " " + name];
            link.matrix.name = metric.name + " " + name;
            link.matrix.unit = metric.unit;
            link.matrix.better = metric.better;
            link.cells[{from, to}] = metric.summary->median;
        }
    }
}

base::Expected<void> FleetBuilder::add_case(const std::string& source, std::size_t host, const CaseReport& one)
{
    const auto from = value_on(one, from_host_param);
    const auto to = value_on(one, to_host_param);
    if (from && to && !from->empty() && !to->empty()) {
        add_link(one, *from, *to);
        return {};
    }
    if (one.status != Status::ok && one.status != Status::failed) {
        return {};
    }
    for (const model::Metric& metric : one.metrics) {
        if (!metric.summary) {
            continue;
        }
        const std::size_t index = metric_of(one, metric);
        FleetMetric& known = fleet_.metrics[index];
        if (known.unit != metric.unit || known.better != metric.better) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{}: {} has unit {} here and {} in other results", one.id, metric.name,
                                          model::name_of(metric.unit), model::name_of(known.unit)),
                              source);
        }
        if (metric.metric_class == model::MetricClass::noisy) {
            known.metric_class = model::MetricClass::noisy;
        }
        Values& values = values_[index];
        values.resize(std::max(values.size(), host + 1));
        for (const std::optional<double>& value : metric.values) {
            if (value && std::isfinite(*value)) {
                values[host].push_back(*value);
            }
        }
    }
    return {};
}

base::Expected<void> FleetBuilder::add(const std::string& source, const RunReport& report)
{
    MEMSWEEP_TRY(check(source, report));
    const std::size_t index = host_of(report);
    model::FleetHost& host = fleet_.hosts[index];
    host.sources.push_back(source);
    host.run_ids.push_back(report.run.id);
    host.started = std::min(host.started, report.run.started);
    host.ended = host.ended.empty() || report.run.ended.empty() ? "" : std::max(host.ended, report.run.ended);
    host.interrupted = host.interrupted || report.run.interrupted;
    host.exit_code = std::max(host.exit_code, report.run.exit_code);
    host.tags.insert(report.run.tags.begin(), report.run.tags.end());
    if (report.run.placement) {
        if (!report.run.placement->partition.empty()) {
            host.tags.emplace("partition", report.run.placement->partition);
        }
        nodes_ = nodes_.empty() ? report.run.placement->nodes : nodes_;
    }
    add_counts(model::count(report), host.counts);
    std::ranges::move(problems_of(report), std::back_inserter(host.problems));
    next_metric_ = 0;
    for (const CaseReport& one : report.cases) {
        MEMSWEEP_TRY(add_case(source, index, one));
    }
    return {};
}

void FleetBuilder::name_missing(const Expectation& expectation)
{
    std::vector<std::string> names = expectation.names;
    if (names.empty() && expectation.hosts && !nodes_.empty()) {
        // A job that names more hosts than are expected says nothing about which of them were meant.
        const auto of_job = base::expand_host_list(nodes_);
        names = of_job && of_job->size() == *expectation.hosts ? *of_job : names;
    }
    for (const std::string& name : std::set<std::string>{names.begin(), names.end()}) {
        if (!hosts_.contains(name)) {
            fleet_.missing.push_back(name);
        }
    }
    if (!expectation.names.empty()) {
        fleet_.expected = std::set<std::string>{names.begin(), names.end()}.size();
    } else if (expectation.hosts) {
        fleet_.expected = *expectation.hosts;
    }
}

model::Fleet FleetBuilder::finish(const Expectation& expectation,
                                  const std::map<std::string, std::map<std::string, std::string>>& tags)
{
    for (model::FleetHost& host : fleet_.hosts) {
        if (const auto found = tags.find(host.name); found != tags.end()) {
            for (const auto& [name, value] : found->second) {
                host.tags[name] = value;
            }
        }
        fleet_.started = fleet_.started.empty() ? host.started : std::min(fleet_.started, host.started);
        fleet_.ended = std::max(fleet_.ended, host.ended);
        fleet_.exit_code = std::max(fleet_.exit_code, host.exit_code);
    }
    name_missing(expectation);
    for (std::size_t i = 0; i < fleet_.metrics.size(); ++i) {
        FleetMetric& metric = fleet_.metrics[i];
        Values values = std::move(values_[i]);
        values.resize(fleet_.hosts.size());
        for (std::vector<double>& of_host : values) {
            add_host(of_host, metric);
        }
    }
    for (auto& [name, link] : links_) {
        std::set<std::string> ends;
        for (const auto& [cell, value] : link.cells) {
            ends.insert({cell.first, cell.second});
        }
        model::FleetMatrix& matrix = fleet_.matrices.emplace_back(std::move(link.matrix));
        matrix.hosts.assign(ends.begin(), ends.end());
        for (const std::string& from : matrix.hosts) {
            std::vector<double>& row = matrix.values.emplace_back();
            for (const std::string& to : matrix.hosts) {
                const auto found = link.cells.find({from, to});
                row.push_back(found == link.cells.end() ? absent : found->second);
            }
        }
    }
    return std::move(fleet_);
}

}  // namespace memsweep::measure
