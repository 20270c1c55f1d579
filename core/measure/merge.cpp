#include "core/measure/merge.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/measure/assertions.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/likeness.hpp"
#include "core/measure/summary.hpp"
#include "core/model/case_index.hpp"

namespace memsweep::measure {
namespace {

using base::Expected;
using model::AssertionResult;
using model::CaseReport;
using model::Metric;
using model::RunReport;
using model::Status;
using model::Warning;

// Nothing but a failed assertion keeps the case from being ok.
bool failed_by_assertion(const CaseReport& report)
{
    return report.status == Status::failed && report.reason.starts_with("assertion failed");
}

// The part of a case with the higher severity decides what the case is.
int severity(const CaseReport& report)
{
    switch (report.status) {
    case Status::skipped:
        return 0;
    case Status::ok:
        return 1;
    case Status::failed:
        return failed_by_assertion(report) ? 1 : 2;
    case Status::timeout:
        return 3;
    case Status::error:
        break;
    }
    return 4;
}

tl::unexpected<base::Error> conflict(const CaseReport& report, std::string_view what, std::string_view name)
{
    return base::fail(base::ErrorCode::invalid_input, fmt::format("{}: {} {}", report.id, name, what));
}

void pad(Metric& metric, std::size_t repetitions)
{
    metric.values.resize(repetitions);
    metric.reason = metric.reason.empty() ? "not measured in every merged run" : metric.reason;
}

// One value per repetition, so that those of the next part come in their places.
Expected<void> fill(const CaseReport& report, Metric& metric)
{
    if (metric.values.size() > report.repetitions) {
        return conflict(report, "has more values than repetitions", metric.name);
    }
    if (metric.values.size() < report.repetitions) {
        pad(metric, report.repetitions);
    }
    return {};
}

bool alike(const Metric& a, const Metric& b)
{
    return a.unit == b.unit && a.better == b.better && a.metric_class == b.metric_class;
}

Expected<void> append_metric(CaseReport& into, const CaseReport& from, Metric added)
{
    MEMSWEEP_TRY(fill(from, added));
    auto found = std::ranges::find(into.metrics, added.name, &Metric::name);
    if (found == into.metrics.end()) {
        found = into.metrics.insert(found, added);
        found->values.clear();
        if (into.repetitions != 0) {
            pad(*found, into.repetitions);
        }
    }
    if (!alike(*found, added)) {
        return conflict(into,
                        fmt::format("has unit {} ({}, {}) here and {} ({}, {}) in what it is merged with",
                                    name_of(added.unit), name_of(added.better), name_of(added.metric_class),
                                    name_of(found->unit), name_of(found->better), name_of(found->metric_class)),
                        added.name);
    }
    found->values.insert(found->values.end(), added.values.begin(), added.values.end());
    found->reason = found->reason.empty() ? added.reason : found->reason;
    return {};
}

Expected<void> append_metrics(CaseReport& into, const CaseReport& from)
{
    for (Metric& metric : into.metrics) {
        MEMSWEEP_TRY(fill(into, metric));
    }
    for (const Metric& metric : from.metrics) {
        MEMSWEEP_TRY(append_metric(into, from, metric));
    }
    for (Metric& metric : into.metrics) {
        if (metric.values.size() < into.repetitions + from.repetitions) {
            pad(metric, into.repetitions + from.repetitions);
        }
    }
    return {};
}

template <typename Part>
void append_shifted(std::vector<Part>& into, const std::vector<Part>& from, std::uint32_t by)
{
    for (Part part : from) {
        part.repetition += by;
        into.push_back(std::move(part));
    }
}

void append_call_times(std::vector<model::CallTimes>& into, const std::vector<model::CallTimes>& from)
{
    for (const model::CallTimes& added : from) {
        model::CallTimes& times = model::times_of(into, added.call, added.from_bytes, added.to_bytes);
        for (std::size_t step = 0; step < added.seconds.size(); ++step) {
            model::add_calls(times, added.seconds[step], added.counts[step]);
        }
    }
}

}  // namespace

Expected<void> append_repetitions(CaseReport& into, const CaseReport& from)
{
    constexpr std::uint64_t max_repetitions = std::numeric_limits<std::uint32_t>::max();
    if (std::uint64_t{into.repetitions} + from.repetitions > max_repetitions ||
        std::uint64_t{into.planned_repetitions} + from.planned_repetitions > max_repetitions) {
        return conflict(into, "are too many", "repetitions");
    }
    for (const model::Series& series : from.series) {
        const auto found = std::ranges::find(into.series, series.name, &model::Series::name);
        if (found != into.series.end() && found->unit != series.unit) {
            return conflict(into,
                            fmt::format("has unit {} here and {} in what it is merged with", name_of(series.unit),
                                        name_of(found->unit)),
                            "series " + series.name);
        }
    }
    MEMSWEEP_TRY(append_metrics(into, from));
    append_shifted(into.points, from.points, into.repetitions);
    append_shifted(into.phases, from.phases, into.repetitions);
    append_shifted(into.series, from.series, into.repetitions);
    append_shifted(into.defects, from.defects, into.repetitions);
    append_call_times(into.call_times, from.call_times);
    if (severity(from) > severity(into)) {
        into.status = from.status;
        into.reason = from.reason;
    }
    into.repetitions += from.repetitions;
    into.planned_repetitions += from.planned_repetitions;
    return {};
}

namespace {

std::vector<std::string> run_ids(const model::RunInfo& run)
{
    const auto tag = run.tags.find(merged_from_tag);
    std::string_view rest = tag == run.tags.end() ? std::string_view{run.id} : std::string_view{tag->second};
    std::vector<std::string> ids;
    while (!rest.empty()) {
        ids.emplace_back(base::take_until(rest, ' '));
    }
    return ids;
}

// Which run came from which part; the first that comes twice is an error.
Expected<std::vector<std::string>> all_run_ids(std::span<const MergePart> parts)
{
    std::map<std::string, std::string> owner;
    std::vector<std::string> ids;
    for (const MergePart& part : parts) {
        for (const std::string& id : run_ids(part.report->run)) {
            const auto [found, is_new] = owner.emplace(id, part.name);
            if (!is_new) {
                return base::fail(base::ErrorCode::invalid_input,
                                  fmt::format("run {} is in {} too: give each run once", id, found->second), part.name);
            }
            ids.push_back(id);
        }
    }
    return ids;
}

// What fingerprints leave out and numbers may depend on all the same.
std::optional<Warning> settings_warning(const MergePart& first, const MergePart& part)
{
    const std::vector<std::string> unlike = setting_differences(*first.report, *part.report);
    if (unlike.empty()) {
        return std::nullopt;
    }
    return Warning{"merged-unlike",
                   fmt::format("{} was not measured quite as {}: {}", part.name, first.name, fmt::join(unlike, "; ")),
                   "memsweep compare tells whether that shows"};
}

bool is_noise(const Warning& warning)
{
    constexpr std::array<std::string_view, 6> codes{"few-repetitions", "coarse-clock", "slow-first-repetition",
                                                    "outliers",        "drift",        "noisy"};
    return std::ranges::find(codes, warning.code) != codes.end();
}

// The warnings of all parts, each once and none about noise, which is judged anew.
class KeptWarnings {
  public:
    void add(const Warning& warning)
    {
        if (!is_noise(warning) && known_.emplace(warning.code, warning.message).second) {
            kept_.push_back(warning);
        }
    }
    void add(const std::vector<Warning>& warnings)
    {
        std::ranges::for_each(warnings, [this](const Warning& warning) { add(warning); });
    }
    [[nodiscard]] std::vector<Warning> take() { return std::move(kept_); }

  private:
    std::vector<Warning> kept_;
    std::set<std::pair<std::string, std::string>> known_;  // codes and messages
};

void merge_tags(model::RunInfo& into, const model::RunInfo& from)
{
    for (const auto& [name, value] : from.tags) {
        const auto [found, is_new] = into.tags.emplace(name, value);
        if (!is_new && found->second != value) {
            found->second += ", " + value;
        }
    }
}

void merge_run(RunReport& into, const RunReport& from)
{
    into.run.started = std::min(into.run.started, from.run.started);
    into.run.ended = into.run.ended.empty() || from.run.ended.empty() ? "" : std::max(into.run.ended, from.run.ended);
    into.run.interrupted = into.run.interrupted || from.run.interrupted;
    merge_tags(into.run, from.run);
}

Expected<void> merge_cases(RunReport& into, model::CaseIndex<>& index, const RunReport& from, const std::string& name)
{
    for (const CaseReport& added : from.cases) {
        const auto position = index.position(added.id);
        if (!position) {
            index.add(added.id, into.cases.size());
            into.cases.push_back(added);
        } else if (auto appended = append_repetitions(into.cases[*position], added); !appended) {
            return base::fail(appended.error().code, appended.error().message, name);
        }
    }
    return {};
}

// "ratio(...) >= 1 (threads=4)": one of several pairs, named behind the expression that was written.
std::string written_expression(const std::string& expression)
{
    const std::size_t suffix = expression.rfind(" (");
    const bool of_pairs = expression.starts_with("ratio") || expression.starts_with("slope");
    const bool has_suffix = of_pairs && expression.ends_with(')') && suffix != std::string::npos;
    return has_suffix ? expression.substr(0, suffix) : expression;
}

bool is_open(const AssertionResult& claim)
{
    return claim.outcome == model::AssertionOutcome::not_evaluated;
}

std::vector<std::string> param_texts(const std::vector<model::Param>& params)
{
    std::vector<std::string> texts;
    std::ranges::transform(params, std::back_inserter(texts), param_text);
    return texts;
}

// What is claimed and of what: of one case, or of all that have the parameters.
using ClaimKey = std::tuple<std::string, bool, std::string, std::vector<std::string>>;

ClaimKey key_of(const AssertionResult& claim)
{
    const bool is_of_one_case = !is_open(claim) && !claim.case_id.empty();
    return {claim.expression, is_open(claim), is_of_one_case ? claim.case_id : std::string{},
            is_of_one_case ? std::vector<std::string>{} : param_texts(claim.where)};
}

std::optional<model::Assertion> assertion_of(const AssertionResult& claim, std::string text)
{
    const auto expression = model::parse_expression(text);
    return expression ? std::optional{model::Assertion{.where = claim.where,
                                                       .text = std::move(text),
                                                       .expression = *expression,
                                                       .severity = claim.severity}}
                      : std::nullopt;
}

// Makes the claims of the parts again about the merged values.
//
// Cost     a claim about one case looks at that case alone; those about pairs that one assertion made look at all cases
//          once.
class Judge {
  public:
    explicit Judge(const std::vector<CaseReport>& cases) : cases_{&cases}, index_{cases} {}

    // Empty when it does not follow from a result which cases it was made about.
    [[nodiscard]] std::optional<AssertionResult> again(const AssertionResult& claim)
    {
        auto assertion = assertion_of(claim, written_expression(claim.expression));
        if (!assertion) {
            return std::nullopt;
        }
        if (!assertion->expression.ratio) {
            assertion->where.clear();
            const auto position = index_.position(claim.case_id);
            return position ? evaluate_case(*assertion, (*cases_)[*position]) : std::nullopt;
        }
        const Results& results = of_pairs(*assertion);
        const auto found = results.find(claim.expression);
        return found == results.end() ? std::nullopt : std::optional{found->second};
    }

    // The results of a claim that no part alone could evaluate.
    [[nodiscard]] std::vector<AssertionResult> answers(const AssertionResult& open) const
    {
        const auto assertion = assertion_of(open, open.expression);
        return assertion ? evaluate({*assertion}, *cases_) : std::vector{open};
    }

  private:
    using Results = std::map<std::string, AssertionResult>;  // by their expressions, which name the pair

    const Results& of_pairs(const model::Assertion& assertion)
    {
        const auto [known, is_new] =
            of_pairs_.try_emplace({assertion.text, assertion.severity, param_texts(assertion.where)}, Results{});
        if (is_new) {
            for (AssertionResult& result : evaluate({assertion}, *cases_)) {
                if (!is_open(result)) {
                    known->second.emplace(result.expression, result);
                }
            }
        }
        return known->second;
    }

    const std::vector<CaseReport>* cases_;
    model::CaseIndex<> index_;
    std::map<std::tuple<std::string, model::Severity, std::vector<std::string>>, Results> of_pairs_;
};

// Every claim once: of what the parts say of it, the strictest.
std::vector<AssertionResult> distinct_claims(std::span<const MergePart> parts)
{
    std::vector<AssertionResult> claims;
    std::map<ClaimKey, std::size_t> positions;
    for (const MergePart& part : parts) {
        for (const AssertionResult& claim : part.report->assertions) {
            const auto [position, is_new] = positions.try_emplace(key_of(claim), claims.size());
            if (is_new) {
                claims.push_back(claim);
                continue;
            }
            AssertionResult& known = claims[position->second];
            const model::Severity severity = std::min(known.severity, claim.severity);
            known = known.outcome == model::AssertionOutcome::passed ? claim : known;
            known.severity = severity;
        }
    }
    return claims;
}

// What some part could evaluate, by what was written and for which cases.
std::set<std::pair<std::string, std::vector<std::string>>> evaluated_claims(std::span<const MergePart> parts)
{
    std::set<std::pair<std::string, std::vector<std::string>>> evaluated;
    for (const MergePart& part : parts) {
        for (const AssertionResult& claim : part.report->assertions) {
            if (!is_open(claim)) {
                evaluated.emplace(written_expression(claim.expression), param_texts(claim.where));
            }
        }
    }
    return evaluated;
}

void judge(RunReport& merged, std::span<const MergePart> parts)
{
    for (CaseReport& one : merged.cases) {
        if (failed_by_assertion(one)) {
            one.status = Status::ok;
            one.reason.clear();
        }
    }
    merged.assertions.clear();
    const auto evaluated = evaluated_claims(parts);
    Judge anew{merged.cases};
    for (const AssertionResult& claim : distinct_claims(parts)) {
        if (is_open(claim)) {
            if (!evaluated.contains({claim.expression, param_texts(claim.where)})) {
                std::ranges::move(anew.answers(claim), std::back_inserter(merged.assertions));
            }
            continue;
        }
        AssertionResult again = anew.again(claim).value_or(claim);
        again.where = claim.where;
        merged.assertions.push_back(std::move(again));
    }
    const model::CaseIndex index{merged.cases};
    for (const AssertionResult& claim : merged.assertions) {
        const auto position = index.position(claim.case_id);
        if (claim.outcome == model::AssertionOutcome::failed && claim.severity == model::Severity::fail && position &&
            merged.cases[*position].status == Status::ok) {
            merged.cases[*position].status = Status::failed;
            merged.cases[*position].reason = fmt::format("assertion failed: {}", claim.expression);
        }
    }
}

void summarize_cases(RunReport& merged)
{
    for (CaseReport& one : merged.cases) {
        for (Metric& metric : one.metrics) {
            metric.summary = summarize(metric.values);
        }
        for (Warning& warning : noise_warnings(one)) {
            merged.warnings.push_back(std::move(warning));
        }
    }
}

}  // namespace

Expected<RunReport> merge(std::span<const MergePart> parts, bool force)
{
    const auto ids = MEMSWEEP_TRY(all_run_ids(parts));
    const MergePart& first = parts.front();
    RunReport merged = *first.report;
    merged.sites.clear();  // of one run
    merged.run.tags.erase(merged_from_tag);
    model::CaseIndex index{merged.cases};
    KeptWarnings warnings;
    warnings.add(first.report->warnings);
    for (const MergePart& part : parts.subspan(1)) {
        const std::vector<std::string> unlike = differences(*first.report, *part.report);
        if (!unlike.empty() && !force) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("cannot be merged with {}: {}; --force merges them all the same", first.name,
                                          fmt::join(unlike, "; ")),
                              part.name);
        }
        if (!unlike.empty()) {
            warnings.add(Warning{
                "merged-by-force",
                fmt::format("{} was merged with {}, although {}", part.name, first.name, fmt::join(unlike, "; ")),
                "figures over both mean little; merge results of one scenario and machine"});
        }
        if (const auto warning = settings_warning(first, part)) {
            warnings.add(*warning);
        }
        warnings.add(part.report->warnings);
        merge_run(merged, *part.report);
        MEMSWEEP_TRY(merge_cases(merged, index, *part.report, part.name));
    }
    merged.warnings = warnings.take();
    merged.run.tags[merged_from_tag] = fmt::format("{}", fmt::join(ids, " "));
    judge(merged, parts);
    summarize_cases(merged);
    return merged;
}

}  // namespace memsweep::measure
