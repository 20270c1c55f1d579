#include "reporters/wording/fleet_words.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"

namespace memsweep::reporters {
namespace {

using measure::BadHost;
using measure::counted;
using measure::FleetJudgement;
using measure::format_factor;
using measure::format_value;
using measure::Importance;
using measure::Outlier;
using measure::PeerRule;
using model::Fleet;

constexpr std::size_t max_hosts = 8;
constexpr std::size_t max_facts = 4;

std::string reasons(const Fleet& fleet, const FleetJudgement& judgement, const BadHost& bad)
{
    constexpr std::size_t max_reasons = 2;
    const model::FleetHost& host = fleet.hosts[bad.host];
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
void add_odd_facts(const Fleet& fleet, const FleetJudgement& judgement, std::vector<Statement>& findings)
{
    std::map<std::string, std::vector<std::string>> hosts;
    std::vector<std::string> order;
    for (const measure::OddFact& fact : judgement.odd_facts) {
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

std::string outlier_text(const Fleet& fleet, const Outlier& outlier)
{
    const model::FleetMetric& metric = fleet.metrics[outlier.metric];
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

std::string small_kind_text(const measure::SmallKind& kind)
{
    return fmt::format("{} with {}: too few of a kind to compare with each other", counted(kind.hosts, "host"),
                       kind.name);
}

std::vector<Statement> fleet_statements(const Fleet& fleet, const FleetJudgement& judgement)
{
    std::vector<Statement> findings;
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
    for (const measure::SharedTag& tag : judgement.shared) {
        findings.push_back(
            {Importance::warning,
             fmt::format("{} of {} bad hosts have {}={}, as {} of {} hosts do (q {:.2g})", tag.bad,
                         judgement.bad.size(), tag.name, tag.value, tag.hosts, fleet.hosts.size(), tag.q)});
    }
    add_odd_facts(fleet, judgement, findings);
    for (const measure::SmallKind& kind : judgement.unjudged) {
        findings.push_back({Importance::warning, small_kind_text(kind)});
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

}  // namespace memsweep::reporters
