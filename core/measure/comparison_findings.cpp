#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/comparison.hpp"
#include "core/measure/format.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t max_metrics = 4;  // named in one sentence
constexpr std::size_t max_cases = 12;

std::string effect_text(const MetricComparison& metric)
{
    return metric.shift ? shift_text(metric.unit, *metric.shift, *metric.base_median, *metric.candidate_median)
                        : std::string{};
}

// "wall_time 1.10x (...), cpu_time 1.08x (...) and 3 more regressed"; empty when no metric has that verdict.
std::string metrics_part(const std::vector<const MetricComparison*>& metrics, Verdict verdict)
{
    std::vector<std::string> texts;
    std::size_t found = 0;
    for (const MetricComparison* metric : metrics) {
        if (metric->verdict == verdict && ++found <= max_metrics) {
            texts.push_back(fmt::format("{} {}", metric->metric, effect_text(*metric)));
        }
    }
    if (found == 0) {
        return {};
    }
    const std::string more = found > max_metrics ? fmt::format(" and {} more", found - max_metrics) : std::string{};
    return fmt::format("{}{} {}", fmt::join(texts, ", "), more, model::name_of(verdict));
}

std::string names_part(const std::vector<const MetricComparison*>& metrics, Verdict verdict)
{
    std::vector<std::string_view> names;
    for (const MetricComparison* metric : metrics) {
        if (metric->verdict == verdict) {
            names.push_back(metric->metric);
        }
    }
    return names.empty() ? std::string{} : fmt::format("{} {}", fmt::join(names, ", "), model::name_of(verdict));
}

std::string case_name(const Comparison& comparison, const ComparedCase& one)
{
    if (!comparison.is_between) {
        return one.label;
    }
    return one.label.empty() ? comparison.candidate.name : fmt::format("{} ({})", comparison.candidate.name, one.label);
}

// Of cases measured in rounds by their rounds, as the verdict is, once those are enough for an interval.
std::optional<TimeContrast> time_of(const Comparison& comparison, const CasePair& pair,
                                    const std::vector<const MetricComparison*>& metrics)
{
    auto time = time_contrast(*pair.base, *pair.candidate);
    const auto judged = std::ranges::find_if(metrics, [](const auto* metric) { return is_time(metric->metric); });
    if (time && comparison.is_in_rounds && judged != metrics.end() && (*judged)->shift && (*judged)->shift->interval) {
        time->ratio = *(*judged)->shift;
    }
    return time;
}

// Why it is slower, where page faults say so; between two values of an axis also by how much.
std::string time_sentence(const Comparison& comparison, const CasePair& pair,
                          const std::vector<const MetricComparison*>& metrics, bool slower)
{
    const auto time = time_of(comparison, pair, metrics);
    if (!time) {
        return {};
    }
    std::string faults =
        (slower || comparison.is_between) && is_slower(*time) ? cause_of(*pair.base, *pair.candidate) : std::string{};
    if (!comparison.is_between) {
        return faults;
    }
    const std::string factor = time_part(*time, comparison.base.name);
    return faults.empty() ? factor : factor + "; " + faults;
}

Importance importance_of(const std::vector<const MetricComparison*>& metrics)
{
    const auto has = [&](auto predicate) {
        return std::ranges::any_of(metrics, predicate, [](const MetricComparison* metric) { return metric->verdict; });
    };
    if (has(gates)) {
        return Importance::failure;
    }
    return has([](Verdict verdict) { return verdict == Verdict::missing; }) ? Importance::warning : Importance::note;
}

Finding case_finding(const Comparison& comparison, const CasePair& pair, const ComparedCase& one,
                     const std::vector<const MetricComparison*>& metrics)
{
    const std::string name = case_name(comparison, one);
    if (metrics.size() == 1 && metrics.front()->metric.empty()) {
        return {importance_of(metrics),
                fmt::format("{}: {}: {}", name, model::name_of(metrics.front()->verdict), metrics.front()->why)};
    }
    const bool slower = std::ranges::any_of(metrics, [](const MetricComparison* metric) {
        return metric->verdict == Verdict::regressed && is_time(metric->metric);
    });
    std::vector<const MetricComparison*> rest = metrics;
    if (comparison.is_between) {  // the time is what the sentence begins with
        std::erase_if(rest, [](const MetricComparison* metric) { return is_time(metric->metric); });
    }
    std::vector<std::string> parts{metrics_part(rest, Verdict::regressed), metrics_part(rest, Verdict::improved),
                                   names_part(rest, Verdict::missing), names_part(rest, Verdict::added)};
    parts.insert(parts.begin() + (comparison.is_between ? 0 : 1), time_sentence(comparison, pair, metrics, slower));
    std::erase(parts, std::string{});
    return {importance_of(metrics), fmt::format("{}: {}", name, fmt::join(parts, "; "))};
}

void add_cases(const Comparison& comparison, std::vector<Finding>& findings)
{
    const std::vector<CasePair>& pairs = comparison.pairs;
    std::vector<std::vector<const MetricComparison*>> of_case(pairs.size());
    for (const MetricComparison& metric : comparison.metrics) {
        of_case[metric.pair].push_back(&metric);
    }
    std::vector<Finding> found;
    for (std::size_t index = 0; index < pairs.size(); ++index) {
        const bool changed = std::ranges::any_of(
            of_case[index], [](const MetricComparison* metric) { return is_change(metric->verdict); });
        if (changed || (comparison.is_between && pairs[index].base->status == model::Status::ok &&
                        pairs[index].candidate->status == model::Status::ok)) {
            found.push_back(case_finding(comparison, pairs[index], comparison.cases[index], of_case[index]));
        }
    }
    std::ranges::stable_sort(found, {}, &Finding::importance);
    if (found.size() > max_cases) {
        const std::size_t more = found.size() - max_cases;
        found.resize(max_cases);
        found.push_back(
            {Importance::note, fmt::format("{} changed; the tables show which", counted(more, "more case"))});
    }
    findings.insert(findings.end(), found.begin(), found.end());
}

void add_too_few(const Comparison& comparison, std::vector<Finding>& findings)
{
    const std::size_t metrics = count(comparison, Verdict::insufficient);
    if (metrics > 0 && comparison.is_in_rounds) {
        findings.push_back({Importance::warning, fmt::format("the rounds ended before a change of {} could be told",
                                                             counted(metrics, "metric"))});
    } else if (metrics > 0) {
        findings.push_back(
            {Importance::warning,
             fmt::format("too few repetitions for {0} of {1} noisy metrics: {2} of each side can show a "
                         "change (-n {2})",
                         metrics, comparison.noisy_metrics, repetitions_needed(comparison.noisy_metrics))});
    }
}

// Said once: for the first of them, with how many more there are.
void add_busier(const Comparison& comparison, std::vector<Finding>& findings)
{
    const auto busier = std::ranges::count_if(comparison.metrics, &MetricComparison::busier_machine);
    if (busier > 0) {
        const auto first = std::ranges::find_if(comparison.metrics, &MetricComparison::busier_machine);
        const std::string more = busier > 1 ? fmt::format(" ({} more alike)", busier - 1) : std::string{};
        findings.push_back({Importance::warning, fmt::format("{}: {} is inconclusive, {}{}", first->case_id,
                                                             first->metric, first->why, more)});
    }
}

// A machine that became slower or faster itself: reported once, for the case that shows it most.
void add_machine(const Comparison& comparison, std::vector<Finding>& findings)
{
    const MetricComparison* most = nullptr;
    const auto distance = [](const MetricComparison& metric) {
        return std::max(metric.shift->estimate, 1 / metric.shift->estimate);
    };
    for (const MetricComparison& metric : comparison.metrics) {
        if (model::role_of(metric.metric) != model::Role::machine || !metric.shift || !metric.shift->is_ratio ||
            !metric.shift->interval || comparison.is_between) {
            continue;
        }
        const double change = (metric.shift->estimate - 1) * *metric.base_median;
        const bool excludes_none = (*metric.shift->interval)[0] > 1 || (*metric.shift->interval)[1] < 1;
        if (excludes_none && beyond(metric.threshold, *metric.base_median, change) &&
            (most == nullptr || distance(metric) > distance(*most))) {
            most = &metric;
        }
    }
    if (most != nullptr) {
        findings.push_back({Importance::warning,
                            fmt::format("the machine itself differs: {} is {} in {}, so times may differ for that "
                                        "reason alone",
                                        most->metric, effect_text(*most), most->case_id)});
    }
}

constexpr double max_settling_repetitions = 1000;

std::string side_text(std::string_view side, std::uint64_t n, std::optional<double> median, model::Unit unit)
{
    return median ? fmt::format("{}: n = {}, median {}", side, n, format_value(unit, *median))
                  : fmt::format("{}: no value", side);
}

std::string effect_sentence(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    const auto shown = [&](double value) { return signed_change(metric.unit, shift.is_ratio, value, 2); };
    if (!shift.interval) {
        const double change = *metric.candidate_median - *metric.base_median;
        const std::string difference = shift.is_ratio && change != 0
                                           ? fmt::format(" ({})", format_difference(metric.unit, change))
                                           : std::string{};
        return fmt::format("effect: {}{}{}", shown(shift.estimate), difference,
                           metric.metric_class == model::MetricClass::exact
                               ? " of the medians; an exact counter needs no interval"
                               : "; too few values for an interval");
    }
    return fmt::format("effect: {} (Hodges-Lehmann), 95 % interval {} to {}", shown(shift.estimate),
                       shown((*shift.interval)[0]), shown((*shift.interval)[1]));
}

std::string test_sentence(const MetricComparison& metric, std::size_t family)
{
    return fmt::format("test: Mann-Whitney p = {:.2g}; q = {:.2g} among {}; at most {} counts as shown", *metric.p,
                       *metric.q, counted(family, "noisy metric"), significance);
}

// The change that the threshold would have to allow, as a fraction of the base's median.
double worst_fraction(const MetricComparison& metric)
{
    const double base = std::fabs(*metric.base_median);
    const Shift& shift = *metric.shift;
    const double change = shift.is_ratio ? shift.estimate - 1 : shift.estimate / base;
    return std::fabs(change);
}

// "11%": the next whole percentage, or tenth of one below 1 %, above the change.
std::string allowing_percent(double fraction)
{
    const double percent = fraction * 100;
    return percent < 1 ? fmt::format("{:.1f}%", std::floor(percent * 10 + 1) / 10)
                       : fmt::format("{:.0f}%", std::floor(percent + 1));
}

std::string threshold_advice(const MetricComparison& metric)
{
    if (*metric.base_median == 0) {
        return "no relative threshold helps: the base is 0";
    }
    return fmt::format("it would pass with --threshold {}={}", metric.metric, allowing_percent(worst_fraction(metric)));
}

std::string needed(const MetricComparison& metric, std::size_t family)
{
    switch (metric.verdict) {
    case Verdict::regressed:
        return threshold_advice(metric);
    case Verdict::insufficient:
        return fmt::format("needed: {0} repetitions of each side (-n {0}), or fewer metrics (--metric)",
                           repetitions_needed(family));
    case Verdict::inconclusive: {
        if (metric.busier_machine) {
            return "needed: both sides measured on a machine as quiet";
        }
        const std::size_t n = repetitions_to_settle(metric, family);
        return n == 0 ? std::string{"needed: less noise; more repetitions alone are unlikely to settle it"}
                      : fmt::format("needed: about {0} repetitions of each side (-n {0}), if the scatter stays", n);
    }
    case Verdict::improved:
    case Verdict::same:
    case Verdict::added:
    case Verdict::missing:
    case Verdict::newly_failing:
    case Verdict::fixed:
    case Verdict::not_comparable:
    case Verdict::informational:
        break;
    }
    return {};
}

// Half the interval's width, and how far it has to shrink, both in the effect's own scale.
struct Room {
    double half_width{};
    double available{};
};

Room room_of(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    const double none = shift.is_ratio ? 1 : 0;
    const double base = std::fabs(*metric.base_median);
    const double allowed =
        std::max(shift.is_ratio ? metric.threshold.relative : metric.threshold.relative * base,
                 shift.is_ratio && base > 0 ? metric.threshold.absolute / base : metric.threshold.absolute);
    const double effect = std::fabs(shift.estimate - none);
    const double half = ((*shift.interval)[1] - (*shift.interval)[0]) / 2;
    return {half, effect > allowed ? effect : allowed - effect};
}

}  // namespace

std::vector<Finding> comparison_findings(const Comparison& comparison)
{
    std::vector<Finding> findings;
    add_cases(comparison, findings);
    add_too_few(comparison, findings);
    add_busier(comparison, findings);
    add_machine(comparison, findings);
    return findings;
}

std::size_t repetitions_to_settle(const MetricComparison& metric, std::size_t family)
{
    if (metric.verdict != Verdict::inconclusive || metric.busier_machine || !metric.shift || !metric.shift->interval) {
        return 0;
    }
    const Room room = room_of(metric);
    if (room.available <= 0) {
        return 0;
    }
    const auto n = static_cast<double>(std::min(metric.base_n, metric.candidate_n));
    const double factor = room.half_width / room.available;
    const double wanted = std::ceil(n * std::max(factor * factor, 1.0)) + 1;
    if (!(wanted <= max_settling_repetitions)) {
        return 0;
    }
    return std::max(static_cast<std::size_t>(wanted), repetitions_needed(family));
}

std::vector<std::string> explanation(const MetricComparison& metric, std::size_t family)
{
    std::vector<std::string> sentences;
    if (!metric.metric.empty()) {
        sentences.push_back(side_text("base", metric.base_n, metric.base_median, metric.unit) + "; " +
                            side_text("candidate", metric.candidate_n, metric.candidate_median, metric.unit));
    }
    if (metric.shift) {
        sentences.push_back(effect_sentence(metric));
        sentences.push_back(fmt::format("allowed: {}", to_text(metric.threshold, metric.unit)));
    }
    if (metric.p && metric.q) {
        sentences.push_back(test_sentence(metric, family));
    }
    sentences.push_back(fmt::format("{}: {}", model::name_of(metric.verdict), metric.why));
    if (!metric.cause.empty()) {
        sentences.push_back(metric.cause);
    }
    if (std::string advice = needed(metric, family); !advice.empty()) {
        sentences.push_back(std::move(advice));
    }
    return sentences;
}

}  // namespace memsweep::measure
