#include "core/measure/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {
namespace {

using model::Fleet;
using model::FleetHost;
using model::FleetMetric;

constexpr double usual_share = 0.9;
constexpr std::size_t min_kind = 3;  // hosts; fewer have no peers

void find_kinds(const Fleet& fleet, FleetJudgement& out)
{
    std::map<std::string, std::size_t> counts;
    for (const FleetHost& host : fleet.hosts) {
        ++counts[processor_text(host.machine)];
    }
    std::vector<std::pair<std::string, std::size_t>> sorted{counts.begin(), counts.end()};
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
    std::map<std::string, std::size_t> places;
    for (const auto& [name, count] : sorted) {
        places.emplace(name, out.kinds.size());
        out.kinds.push_back(name);
        if (count < min_kind) {
            out.unjudged.push_back(
                fmt::format("{} with {}: too few of a kind to compare with each other", counted(count, "host"), name));
        }
    }
    for (const FleetHost& host : fleet.hosts) {
        out.kind.push_back(places.at(processor_text(host.machine)));
    }
}

// Of one kind's hosts.
void judge_metric(const Fleet& fleet, std::size_t index, std::size_t kind, FleetJudgement& out)
{
    const FleetMetric& metric = fleet.metrics[index];
    std::vector<PeerValue> values;
    for (std::size_t host = 0; host < out.kind.size(); ++host) {
        if (out.kind[host] == kind && std::isfinite(metric.median[host])) {
            values.push_back({host, metric.median[host], metric.mad[host], metric.low[host], metric.high[host]});
        }
    }
    PeerJudgement judgement =
        judge_peers({.values = values,
                     .better = metric.better,
                     .metric_class = metric.metric_class,
                     .threshold = default_threshold(metric.name, metric.unit, metric.metric_class)});
    for (const PeerValue& one : values) {
        out.tests[one.host] += judgement.tests > 0 ? 1U : 0U;
    }
    for (const Deviation& deviation : judgement.deviations) {
        out.outliers.push_back({.host = deviation.host,
                                .metric = index,
                                .rule = deviation.rule,
                                .value = metric.median[deviation.host],
                                .median = judgement.median,
                                .z = deviation.z,
                                .q = deviation.p,  // adjusted below
                                .is_worse = deviation.is_worse});
    }
    judgement.deviations.clear();
    if (judgement.hosts > 0) {
        out.spreads.push_back({index, kind, std::move(judgement)});
    }
}

void adjust(FleetJudgement& out)
{
    keep_unlikely(
        out.outliers, [](const Outlier& one) { return one.host; }, out.tests, fleet_false_share);
    std::ranges::stable_sort(out.outliers, std::ranges::greater{}, [](const Outlier& one) { return std::fabs(one.z); });
}

struct Fact {
    std::string name;
    std::string value;
};

std::vector<Fact> facts_of(const model::Machine& machine)
{
    return {{"memory", fmt::format("{:.0f} GiB", std::round(static_cast<double>(machine.memory_bytes) / (1 << 30)))},
            {"NUMA nodes", fmt::format("{}", machine.numa_nodes)},
            {"kernel", machine.kernel},
            {"THP", machine.thp},
            {"overcommit", machine.overcommit},
            {"governor", machine.governor},
            {"ASLR", machine.aslr},
            {"swap", base::format_size(machine.swap_bytes)},
            {"devices", fmt::format("{}", machine.devices.size())}};
}

void find_odd_facts(const Fleet& fleet, std::size_t kind, FleetJudgement& out)
{
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < fleet.hosts.size(); ++host) {
        if (out.kind[host] == kind) {
            hosts.push_back(host);
        }
    }
    std::vector<std::map<std::string, std::size_t>> counts;
    for (const std::size_t host : hosts) {
        const std::vector<Fact> facts = facts_of(fleet.hosts[host].machine);
        counts.resize(facts.size());
        for (std::size_t i = 0; i < facts.size(); ++i) {
            ++counts[i][facts[i].value];
        }
    }
    for (const std::size_t host : hosts) {
        const std::vector<Fact> facts = facts_of(fleet.hosts[host].machine);
        for (std::size_t i = 0; i < facts.size(); ++i) {
            const auto usual = std::ranges::max_element(counts[i], {}, [](const auto& entry) { return entry.second; });
            const bool agreed = static_cast<double>(usual->second) >= usual_share * static_cast<double>(hosts.size());
            if (agreed && usual->first != facts[i].value && hosts.size() >= min_kind) {
                out.odd_facts.push_back({host, facts[i].name, facts[i].value, usual->first, usual->second});
            }
        }
    }
}

bool is_bad_by_itself(const FleetHost& host)
{
    return !host.problems.empty() || host.interrupted;
}

void find_bad_hosts(const Fleet& fleet, FleetJudgement& out)
{
    std::vector<BadHost> all(fleet.hosts.size());
    for (std::size_t host = 0; host < all.size(); ++host) {
        all[host].host = host;
    }
    for (std::size_t i = 0; i < out.outliers.size(); ++i) {
        if (out.outliers[i].is_worse) {
            all[out.outliers[i].host].outliers.push_back(i);
        }
    }
    for (BadHost& host : all) {
        if (!host.outliers.empty() || is_bad_by_itself(fleet.hosts[host.host])) {
            out.bad.push_back(std::move(host));
        }
    }
    std::ranges::stable_sort(out.bad, [&](const BadHost& a, const BadHost& b) {
        const auto rank = [&](const BadHost& one) {
            const double z = one.outliers.empty() ? 0 : std::fabs(out.outliers[one.outliers.front()].z);
            return std::pair{is_bad_by_itself(fleet.hosts[one.host]), z};
        };
        return rank(a) > rank(b);
    });
}

void find_shared_tags(const Fleet& fleet, FleetJudgement& out)
{
    constexpr std::size_t min_bad = 2;
    std::map<std::pair<std::string, std::string>, SharedTag> found;
    for (const FleetHost& host : fleet.hosts) {
        for (const auto& [name, value] : host.tags) {
            ++found.try_emplace({name, value}, SharedTag{name, value, 0, 0, 0}).first->second.hosts;
        }
    }
    for (const BadHost& bad : out.bad) {
        for (const auto& [name, value] : fleet.hosts[bad.host].tags) {
            ++found.at({name, value}).bad;
        }
    }
    const LogFactorials logs{fleet.hosts.size()};
    std::vector<SharedTag> tags;
    std::vector<double> p;
    std::size_t family = 0;
    for (const auto& [key, tag] : found) {
        family += tag.bad > 0 && tag.hosts < fleet.hosts.size() ? 1U : 0U;
        if (tag.bad >= min_bad && tag.hosts < fleet.hosts.size()) {
            tags.push_back(tag);
            p.push_back(hypergeometric_tail(logs, fleet.hosts.size(), tag.hosts, out.bad.size(), tag.bad));
        }
    }
    const std::vector<double> q = benjamini_hochberg(p, family);
    for (std::size_t i = 0; i < tags.size(); ++i) {
        tags[i].q = q[i];
        if (q[i] <= significance) {
            out.shared.push_back(tags[i]);
        }
    }
    std::ranges::stable_sort(out.shared, {}, &SharedTag::q);
}

constexpr std::size_t max_hosts = 8;
constexpr std::size_t max_facts = 4;

std::string reasons(const Fleet& fleet, const FleetJudgement& judgement, const BadHost& bad)
{
    constexpr std::size_t max_reasons = 2;
    const FleetHost& host = fleet.hosts[bad.host];
    std::vector<std::string> parts;
    if (host.interrupted) {
        parts.emplace_back("its run did not finish");
    }
    for (const model::FleetProblem& problem : host.problems) {
        parts.push_back(problem.case_id.empty() ? problem.reason
                                                : fmt::format("{}: {}", problem.case_id, problem.reason));
    }
    for (const std::size_t index : bad.outliers) {
        parts.push_back(outlier_text(fleet, judgement.outliers[index]));
    }
    const std::size_t shown = std::min(parts.size(), max_reasons);
    std::string text =
        fmt::format("{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
    return parts.size() > shown ? fmt::format("{}; and {} more", text, parts.size() - shown) : text;
}

// Facts that several hosts have in common are one finding.
void add_odd_facts(const Fleet& fleet, const FleetJudgement& judgement, std::vector<Finding>& findings)
{
    std::map<std::string, std::vector<std::string>> hosts;
    std::vector<std::string> order;
    for (const OddFact& fact : judgement.odd_facts) {
        const std::string text =
            fmt::format("{} {} instead of {}", fact.fact, fact.value.empty() ? "unknown" : fact.value,
                        fact.usual.empty() ? "unknown" : fact.usual);
        if (!hosts.contains(text)) {
            order.push_back(text);
        }
        hosts[text].push_back(fleet.hosts[fact.host].name);
    }
    for (std::size_t i = 0; i < std::min(order.size(), max_facts); ++i) {
        const std::vector<std::string>& who = hosts.at(order[i]);
        findings.push_back({Importance::warning, who.size() == 1 ? fmt::format("{}: {}", who.front(), order[i])
                                                                 : fmt::format("{} hosts ({}, ...): {}", who.size(),
                                                                               who.front(), order[i])});
    }
}

}  // namespace

FleetJudgement judge_fleet(const Fleet& fleet)
{
    FleetJudgement out;
    out.tests.resize(fleet.hosts.size());
    find_kinds(fleet, out);
    for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
        if (const model::Role role = model::role_of(fleet.metrics[metric].name);
            role == model::Role::time_part || role == model::Role::context) {
            continue;
        }
        for (std::size_t kind = 0; kind < out.kinds.size(); ++kind) {
            judge_metric(fleet, metric, kind, out);
        }
    }
    adjust(out);
    for (std::size_t kind = 0; kind < out.kinds.size(); ++kind) {
        find_odd_facts(fleet, kind, out);
    }
    find_bad_hosts(fleet, out);
    find_shared_tags(fleet, out);
    return out;
}

bool is_healthy(const Fleet& fleet, const FleetJudgement& judgement)
{
    return judgement.bad.empty() && model::count_missing(fleet) == 0;
}

std::string outlier_text(const Fleet& fleet, const Outlier& outlier)
{
    const FleetMetric& metric = fleet.metrics[outlier.metric];
    std::vector<std::string> evidence;
    if (outlier.median > 0 && outlier.value > 0 && outlier.rule != PeerRule::counter) {
        evidence.push_back(format_factor(outlier.value / outlier.median) + "x");
    }
    if (outlier.rule == PeerRule::test) {
        evidence.push_back(fmt::format("z {:.1f}", outlier.z));
        evidence.push_back(fmt::format("q {:.2g}", outlier.q.value_or(1)));
    } else if (outlier.rule == PeerRule::few) {
        evidence.push_back(fmt::format("{:.1f} times as far out as the others lie apart", std::fabs(outlier.z)));
    }
    return fmt::format("{} of {}: {} instead of {}{}", metric.name, metric.case_id,
                       format_value(metric.unit, outlier.value), format_value(metric.unit, outlier.median),
                       evidence.empty() ? "" : fmt::format(" ({})", fmt::join(evidence, ", ")));
}

std::vector<Finding> fleet_findings(const Fleet& fleet, const FleetJudgement& judgement)
{
    std::vector<Finding> findings;
    if (const std::size_t missing = model::count_missing(fleet); missing > 0) {
        const std::size_t unnamed = missing - std::min(missing, fleet.missing.size());
        std::vector<std::string> parts;
        if (!fleet.missing.empty()) {
            parts.push_back(fmt::format("{}", fmt::join(fleet.missing, ", ")));
        }
        if (unnamed > 0) {
            parts.push_back(counted(unnamed, "host") + " that no result names");
        }
        findings.push_back({Importance::failure, fmt::format("missing: {}", fmt::join(parts, " and "))});
    }
    for (std::size_t i = 0; i < std::min(judgement.bad.size(), max_hosts); ++i) {
        const BadHost& bad = judgement.bad[i];
        findings.push_back(
            {Importance::failure, fmt::format("{}: {}", fleet.hosts[bad.host].name, reasons(fleet, judgement, bad))});
    }
    if (judgement.bad.size() > max_hosts) {
        findings.push_back({Importance::failure,
                            fmt::format("{} more; the table of hosts has them all", judgement.bad.size() - max_hosts)});
    }
    for (const SharedTag& tag : judgement.shared) {
        findings.push_back(
            {Importance::warning,
             fmt::format("{} of {} bad hosts have {}={}, as {} of {} hosts do (q {:.2g})", tag.bad,
                         judgement.bad.size(), tag.name, tag.value, tag.hosts, fleet.hosts.size(), tag.q)});
    }
    add_odd_facts(fleet, judgement, findings);
    for (const std::string& text : judgement.unjudged) {
        findings.push_back({Importance::warning, text});
    }
    for (const model::Warning& warning : fleet.warnings) {
        findings.push_back({Importance::warning, warning.message});
    }
    const auto better = std::ranges::count(judgement.outliers, false, &Outlier::is_worse);
    if (better > 0) {
        findings.push_back({Importance::note, fmt::format("{} value{} unlike the others, but on the better side",
                                                          better, better == 1 ? " is" : "s are")});
    }
    return findings;
}

}  // namespace memsweep::measure
