#include "core/measure/findings.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/format.hpp"
#include "core/measure/replay_verdict.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::AssertionResult;
using model::CaseReport;
using model::Metric;
using model::Status;
using model::Warning;

// Several cases that say the same thing make one finding.
struct Group {
    std::string what;   // what is the same of all
    std::string first;  // the case shown
    std::string detail;
    std::size_t count{};
};

void add_to(std::vector<Group>& groups, Group one)
{
    const auto found = std::ranges::find(groups, one.what, &Group::what);
    if (found == groups.end()) {
        groups.push_back(std::move(one));
    } else {
        ++found->count;
    }
}

template <typename Chosen>
void report_cases(const std::vector<CaseReport>& cases, const Chosen& is_chosen, std::string_view verb,
                  Importance importance, std::vector<Finding>& findings)
{
    std::vector<Group> groups;
    for (const CaseReport& one : cases) {
        if (is_chosen(one)) {
            add_to(groups, {one.reason, one.id, {}, 1});
        }
    }
    for (const Group& group : groups) {
        const std::string reason = group.what.empty() ? std::string{} : ": " + group.what;
        findings.push_back({importance, group.count == 1 ? fmt::format("{} {}{}", group.first, verb, reason)
                                                         : fmt::format("{} cases {}, first {}{}", group.count, verb,
                                                                       group.first, reason)});
    }
}

void report_status(const std::vector<CaseReport>& cases, Status status, std::string_view verb, Importance importance,
                   std::vector<Finding>& findings)
{
    report_cases(
        cases, [status](const CaseReport& one) { return one.status == status; }, verb, importance, findings);
}

// A case that was refused for its memory; its reason alone tells it from what this machine lacks.
bool is_above_budget(const CaseReport& one)
{
    return one.status == Status::skipped && one.reason.find("--max-memory") != std::string::npos;
}

std::string outcome(const AssertionResult& result)
{
    return result.actual ? fmt::format("it is {}", format_value(result.unit, *result.actual)) : result.reason;
}

std::string assertion_text(const Group& group)
{
    if (group.count > 1) {
        return fmt::format("{} for {} cases, first {} ({})", group.what, group.count, group.first, group.detail);
    }
    return group.first.empty() ? fmt::format("{}: {}", group.what, group.detail)
                               : fmt::format("{} for {}: {}", group.what, group.first, group.detail);
}

// A violated limit of a case is the reason why the case has failed, with its evidence, and said there.
bool is_said_of_case(const AssertionResult& result, const std::vector<CaseReport>& cases)
{
    const auto of_case = std::ranges::find(cases, result.case_id, &CaseReport::id);
    return result.is_limit && of_case != cases.end() && of_case->status == Status::failed &&
           of_case->reason.find(model::limit_violated + result.expression) != std::string::npos;
}

void report_assertions(const model::RunReport& report, model::Severity severity, Importance importance,
                       std::vector<Finding>& findings)
{
    std::vector<Group> groups;
    for (const AssertionResult& result : report.assertions) {
        if (is_said_of_case(result, report.cases)) {
            continue;
        }
        if (result.outcome == model::AssertionOutcome::failed && result.severity == severity) {
            const std::string_view verb = result.actual ? "does not hold" : "cannot be judged";
            add_to(groups, {fmt::format("{} {}", result.expression, verb), result.case_id, outcome(result), 1});
        }
    }
    for (const Group& group : groups) {
        findings.push_back({importance, assertion_text(group)});
    }
}

std::vector<Finding> broken(const model::RunReport& report)
{
    std::vector<Finding> found;
    report_status(report.cases, Status::error, "broke off", Importance::failure, found);
    report_status(report.cases, Status::timeout, "timed out", Importance::failure, found);
    report_status(report.cases, Status::failed, "failed", Importance::failure, found);
    report_assertions(report, model::Severity::fail, Importance::failure, found);
    return found;
}

void report_trims(const std::vector<CaseReport>& cases, std::vector<Finding>& findings)
{
    for (const auto& how : model::names<model::TrimHow>()) {
        const bool used = std::ranges::any_of(cases, [&](const CaseReport& one) {
            return one.repetitions != 0 && std::ranges::find(one.trims, how.value) != one.trims.end();
        });
        if (used) {
            findings.push_back({Importance::note, fmt::format("trim {}: {}", how.name, how.meaning)});
        }
    }
}

// Programs whose time is in good part what starting any program takes.
void report_short_programs(const model::RunReport& report, std::vector<Finding>& findings)
{
    constexpr double enough = 20;
    constexpr double nothing_else = 1.1;
    const std::optional<double> start = start_price(report);
    const CaseReport* shortest = nullptr;
    double shortest_seconds = 0;
    std::size_t count = 0;
    for (const CaseReport& one : report.cases) {
        const Metric* const time = start ? model::find_metric(one, "wall_time") : nullptr;
        if (time == nullptr || !time->summary || time->summary->median >= enough * *start) {
            continue;
        }
        ++count;
        if (shortest == nullptr || time->summary->median < shortest_seconds) {
            shortest = &one;
            shortest_seconds = time->summary->median;
        }
    }
    if (shortest == nullptr) {
        return;
    }
    const std::string others = count > 1 ? fmt::format(" (the shortest of {} so short)", counted(count, "case")) : "";
    const std::string time = base::format_duration(shortest_seconds);
    const std::string cost = base::format_duration(*start);
    findings.push_back(
        {Importance::note,
         shortest_seconds > nothing_else * *start
             ? fmt::format("{} takes {}{}, of which {} go into starting any program: programs differ by more than "
                           "their wall_time does",
                           shortest->id, time, others, cost)
             : fmt::format("{} takes {}{}, hardly more than starting any program does ({}): its wall_time says nothing "
                           "of what it does",
                           shortest->id, time, others, cost)});
}

constexpr std::size_t min_for_interval = 6;
constexpr std::size_t min_for_scatter = 5;  // below it the median deviation itself is mostly chance
constexpr std::size_t min_for_drift = 8;
constexpr double drift_limit = 0.6;
constexpr double noise_limit = 0.05;

const Metric* judged_metric(const CaseReport& report)
{
    for (const std::string_view name : {"wall_time", "time_per_op"}) {
        const Metric* metric = model::find_metric(report, name);
        if (metric != nullptr && !present(metric->values).empty()) {
            return metric;
        }
    }
    return nullptr;
}

class Noise {
  public:
    Noise(const CaseReport& report, const Metric& metric)
        : subject_{fmt::format("{}: {}", report.id, metric.name)}, values_{present(metric.values)},
          summary_{*summarize(metric.values)}
    {
    }

    std::vector<Warning> warnings()
    {
        few_repetitions();
        if (!coarse_clock()) {
            outliers(slow_first());
        }
        drift();
        noisy();
        return std::move(warnings_);
    }

  private:
    void warn(std::string code, const std::string& message, std::string hint)
    {
        warnings_.push_back({std::move(code), fmt::format("{} {}", subject_, message), std::move(hint)});
    }

    void few_repetitions()
    {
        if (values_.size() < min_for_interval) {
            warn("few-repetitions", fmt::format("has {}: too few for an interval", counted(values_.size(), "value")),
                 "run at least 6 repetitions (-n 6), 10 to compare results");
        }
    }

    // More than half of the values equal to the last digit: no clock that is fine enough shows that.
    bool coarse_clock()
    {
        const bool coarse = values_.size() >= min_for_scatter && summary_.mad <= 0;
        if (coarse) {
            warn("coarse-clock", fmt::format("is {} in most repetitions, to the last digit", shown(summary_.median)),
                 "the clock is too coarse for a run this short: repeat the timed steps within a repetition");
        }
        return coarse;
    }

    bool slow_first()
    {
        const bool slow =
            values_.size() >= min_for_scatter && values_.front() - summary_.median > outlier_distance * summary_.mad;
        if (slow) {
            warn("slow-first-repetition",
                 fmt::format("took {} in the first repetition, {} in the median", shown(values_.front()),
                             shown(summary_.median)),
                 "caches or page tables were cold: raise --warmup");
        }
        return slow;
    }

    void outliers(bool first_told)
    {
        const std::uint64_t count = summary_.outliers - (first_told ? 1 : 0);
        if (values_.size() >= min_for_scatter && count > 0) {
            warn("outliers",
                 fmt::format("has {} of {} repetitions far from the median {} ({} to {})", count, values_.size(),
                             shown(summary_.median), shown(summary_.min), shown(summary_.max)),
                 "something else ran on this machine: close it, pin CPUs, or raise the repetitions (-n)");
        }
    }

    void drift()
    {
        const auto rho = values_.size() >= min_for_drift ? spearman_with_order(values_) : std::nullopt;
        if (rho && std::fabs(*rho) > drift_limit) {
            warn("drift",
                 fmt::format("{} from repetition to repetition (rank correlation {:+.2f})",
                             *rho > 0 ? "grows" : "shrinks", *rho),
                 "the machine changes while it is measured: let it warm up or cool down, fix its clock frequency, and "
                 "keep "
                 "the interleaved order");
        }
    }

    void noisy()
    {
        if (summary_.mdape && *summary_.mdape > noise_limit) {
            warn("noisy", fmt::format("scatters by {} around its median", format_percent(*summary_.mdape)),
                 "make the timed steps longer, quiet the machine, or raise the repetitions (-n)");
        }
    }

    static std::string shown(double seconds) { return base::format_duration(seconds); }

    std::string subject_;
    std::vector<double> values_;
    model::Summary summary_;
    std::vector<Warning> warnings_;
};

}  // namespace

std::optional<double> start_price(const model::RunReport& report)
{
    std::optional<double> price = report.calibration.harness_seconds_per_run;
    for (const CaseReport& one : report.cases) {
        const Metric* const time = price ? model::find_metric(one, "wall_time") : nullptr;
        for (const double seconds : time != nullptr ? present(time->values) : std::vector<double>{}) {
            price = std::min(*price, seconds);
        }
    }
    return price;
}

std::vector<Finding> failures(const model::RunReport& report)
{
    std::vector<Finding> found = broken(report);
    const bool none = std::ranges::all_of(report.cases, [](const CaseReport& one) { return one.repetitions == 0; });
    if (none && !report.run.interrupted) {
        report_status(report.cases, Status::skipped, "skipped", Importance::note, found);
    } else {
        report_cases(report.cases, is_above_budget, "skipped", Importance::note, found);
    }
    return found;
}

std::vector<std::string> doubts_about_machine(const model::RunReport& report)
{
    std::vector<std::string> doubts;
    for (const Warning& warning : report.warnings) {
        if (warning.code == busy_machine_code) {
            doubts.push_back(warning.message);
        }
    }
    std::ranges::move(implausible_probe_sentences(report.cases), std::back_inserter(doubts));
    return doubts;
}

std::vector<Finding> findings(const model::RunReport& report)
{
    std::vector<Finding> found = broken(report);
    report_assertions(report, model::Severity::warn, Importance::warning, found);
    for (std::string& doubt : doubts_about_machine(report)) {
        found.push_back({Importance::warning, std::move(doubt)});
    }
    for (const auto sentences : {replay_sentences, probe_sentences, placement_sentences, contrast_sentences}) {
        for (std::string& sentence : sentences(report.cases)) {
            found.push_back({Importance::note, std::move(sentence)});
        }
    }
    report_trims(report.cases, found);
    report_short_programs(report, found);
    report_status(report.cases, Status::skipped, "skipped", Importance::note, found);
    return found;
}

std::optional<Warning> profile_warning(const CaseReport& report)
{
    if (!report.release.modelled || report.release.verified) {
        return std::nullopt;
    }
    return Warning{
        "unverified-profile",
        fmt::format("{}: when collections come follows the rules of profile \"{}\"", report.id, report.release.profile),
        "no recording of that runtime has confirmed them; the memory, the releases and the times are real"};
}

std::vector<Warning> counting_warnings(const CaseReport& report)
{
    std::vector<Warning> warnings;
    const auto warn = [&](std::string_view fact, std::string code, std::string_view what, std::string hint) {
        if (const model::Scalar* const why = model::find_value(report.facts, fact)) {
            warnings.push_back(
                {std::move(code), fmt::format("{}: {}{}", report.id, what, model::to_text(*why)), std::move(hint)});
        }
    };
    warn(model::uncounted_fact, "uncounted", "",
         "its times, pages and working set are right; measure the program itself, without what starts it, or link it "
         "dynamically");
    warn(model::unverified_allocator_fact, "unverified-allocator",
         "whose malloc it used is not known: ", "start the program itself, without what starts it");
    return warnings;
}

std::vector<Warning> noise_warnings(const CaseReport& report)
{
    const Metric* metric = judged_metric(report);
    return metric != nullptr ? Noise{report, *metric}.warnings() : std::vector<Warning>{};
}

}  // namespace memsweep::measure
