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
            out.unjudged.push_back({name, count});
        }
    }
    for (const FleetHost& host : fleet.hosts) {
        out.kind.push_back(places.at(processor_text(host.machine)));
    }
}

// Judges one metric of the hosts of one kind.
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

}  // namespace memsweep::measure
