#include "app/commands/limit_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/shipped.hpp"
#include "core/base/text.hpp"
#include "core/measure/assertions.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/format.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::app {
namespace {

using model::AssertionOutcome;
using model::AssertionResult;
using model::CaseReport;

// As they were measured: what another limit made of a case is no part of that.
std::vector<CaseReport> cases_of(const scenarios::ProbeLimit& limit, const std::vector<CaseReport>& cases)
{
    std::vector<CaseReport> chosen;
    std::ranges::copy_if(cases, std::back_inserter(chosen), [&](const CaseReport& one) {
        return (limit.scenario.empty() || one.scenario == limit.scenario) &&
               model::find_metric(one, limit.assertion.expression.metric) != nullptr;
    });
    for (CaseReport& one : chosen) {
        if (one.status == model::Status::failed && one.reason.starts_with(model::limit_violated)) {
            one.status = model::Status::ok;
        }
    }
    return chosen;
}

// "median 17.2 GB/s of 7 samples, 16.9 GB/s to 17.5 GB/s"
std::string evidence(const CaseReport& report, const model::Expression& expression)
{
    const model::Metric* const metric = model::find_metric(report, expression.metric);
    if (metric == nullptr || !metric->summary) {
        return "no samples";
    }
    const model::Summary& summary = *metric->summary;
    const auto text = [&](double value) { return measure::format_value(metric->unit, value); };
    return expression.stat == model::Stat::min ? fmt::format("the least of {} samples is {}, the median {}", summary.n,
                                                             text(summary.min), text(summary.median))
                                               : fmt::format("median {} of {} samples, {} to {}", text(summary.median),
                                                             summary.n, text(summary.min), text(summary.max));
}

// What of its `where` no case has, with the nearest that one has; empty: each word of it is one's, but none has them
// all.
std::string unmatched_word(const std::vector<model::Param>& where, const std::vector<CaseReport>& cases)
{
    for (const model::Param& wanted : where) {
        std::set<std::string> names;
        std::set<std::string> values;
        for (const CaseReport& one : cases) {
            for (const model::Param& param : one.params) {
                names.insert(param.name);
                if (param.name == wanted.name) {
                    values.insert(model::to_text(param.value));
                }
            }
        }
        const std::string value = model::to_text(wanted.value);
        if (!values.contains(value)) {
            const bool is_name = values.empty();
            const std::set<std::string>& there = is_name ? names : values;
            const std::vector<std::string_view> known{there.begin(), there.end()};
            return is_name
                       ? fmt::format("none has a parameter \"{}\"{}", wanted.name, base::suggestion(wanted.name, known))
                       : fmt::format("none has {}={}{}", wanted.name, value, base::suggestion(value, known));
        }
    }
    return {};
}

// Why nothing that was measured is the limit's, as far as a word of it tells.
std::string mismatch(const scenarios::ProbeLimit& limit, const std::vector<CaseReport>& cases)
{
    std::set<std::string_view> parts;
    std::ranges::transform(cases, std::inserter(parts, parts.end()), &CaseReport::scenario);
    if (!limit.scenario.empty() && !parts.contains(limit.scenario)) {
        const std::vector<std::string_view> known{parts.begin(), parts.end()};
        return fmt::format("nothing of \"{}\" was{}", limit.scenario, base::suggestion(limit.scenario, known));
    }
    const std::vector<CaseReport> chosen = cases_of(limit, cases);
    return chosen.empty() ? std::string{} : unmatched_word(limit.assertion.where, chosen);
}

AssertionResult unmet(const scenarios::ProbeLimit& limit, const std::vector<CaseReport>& cases)
{
    AssertionResult result;
    result.expression = limit.assertion.text;
    result.unit = limit.assertion.expression.unit;
    result.outcome = limit.optional ? AssertionOutcome::not_evaluated : AssertionOutcome::failed;
    result.severity = limit.assertion.severity;
    const std::string why = mismatch(limit, cases);
    result.reason = fmt::format("no case that it speaks of was measured{}{}", why.empty() ? "" : ": ", why);
    result.where = limit.assertion.where;
    return result;
}

void fail_case(const AssertionResult& result, const scenarios::ProbeLimit& limit, std::vector<CaseReport>& cases)
{
    const auto found = std::ranges::find(cases, result.case_id, &CaseReport::id);
    if (found == cases.end() || result.outcome != AssertionOutcome::failed ||
        result.severity != model::Severity::fail) {
        return;
    }
    const std::string why =
        fmt::format("{}{}: {}", model::limit_violated, result.expression, evidence(*found, limit.assertion.expression));
    if (found->status == model::Status::ok) {
        found->status = model::Status::failed;
        found->reason = why;
    } else if (found->reason.starts_with(model::limit_violated) && found->reason.find(why) == std::string::npos) {
        found->reason += "; " + why;
    }
}

// "17.21GB/s", "82.4ns": four digits, rounded to the side on which the limit holds for `value` itself.
std::string limit_text(model::Unit unit, double value, bool is_least)
{
    struct Scale {
        double factor;
        std::string_view name;
    };
    static constexpr std::array rates{Scale{1e9, "GB/s"}, Scale{1e6, "MB/s"}, Scale{1e3, "kB/s"}, Scale{1, "B/s"}};
    static constexpr std::array times{Scale{1, "s"}, Scale{1e-3, "ms"}, Scale{1e-6, "us"}, Scale{1e-9, "ns"}};
    constexpr int last_digit = 3;  // behind the first of four
    const auto& scales = unit == model::Unit::seconds ? times : rates;
    const auto* const fitting = std::ranges::find_if(scales, [&](const Scale& scale) { return value >= scale.factor; });
    const Scale& scale = fitting == scales.end() ? scales.back() : *fitting;
    const double scaled = value / scale.factor;
    const int decimals = std::max(0, last_digit - static_cast<int>(std::floor(std::log10(scaled))));
    const double tens = std::pow(10, decimals);
    const double rounded = (is_least ? std::floor(scaled * tens) : std::ceil(scaled * tens)) / tens;
    return fmt::format("{:.{}f}{}", rounded, decimals, scale.name);
}

scenarios::ProbeLimit limit_of(const CaseReport& report, const model::Metric& metric, double margin)
{
    const bool is_least = metric.better == model::Better::higher;
    const double bound = reporters::shown_value(metric) * (is_least ? 1 - margin : 1 + margin);
    scenarios::ProbeLimit limit{.scenario = report.scenario};
    limit.assertion.where = report.params;
    limit.assertion.text =
        fmt::format("{}.{} {} {}", metric.name, reporters::is_shown_by_least(metric.name) ? "min" : "median",
                    is_least ? ">=" : "<=", limit_text(metric.unit, bound, is_least));
    return limit;
}

std::vector<scenarios::ProbeLimit> limits_of(const model::RunReport& report, double margin)
{
    std::vector<scenarios::ProbeLimit> limits;
    for (const CaseReport& one : report.cases) {
        for (const model::Metric& metric : one.metrics) {
            if (model::shown_of(metric.name).is_sampled && one.status == model::Status::ok && metric.summary &&
                metric.summary->min > 0) {
                limits.push_back(limit_of(one, metric, margin));
            }
        }
    }
    return limits;
}

// "10%" -> 0.1
base::Expected<double> parse_margin(const std::string& text)
{
    const auto percent = value::whole_number(text.substr(0, text.find('%')), 1, 99);
    if (!percent || !text.ends_with('%')) {
        return refuse(fmt::format("\"{}\" is no margin from 1% to 99%", text));
    }
    return static_cast<double>(*percent) / 100;
}

}  // namespace

std::optional<std::vector<scenarios::ProbeLimit>> limits_in(const std::string& path)
{
    auto loaded = path.empty() ? scenarios::LoadedLimits{} : scenarios::load_limits(limits_path(path));
    if (!loaded) {
        loaded.error().front().message += limits_hint(path);
        print_places(loaded.error());
        return std::nullopt;
    }
    return *std::move(loaded);
}

bool judge_by_limits(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report)
{
    bool violated = false;
    // All of them by what was measured, before one of them changes a case's status.
    std::vector<std::pair<const scenarios::ProbeLimit*, AssertionResult>> judged;
    for (const scenarios::ProbeLimit& limit : limits) {
        std::vector<AssertionResult> results = measure::evaluate({limit.assertion}, cases_of(limit, report.cases));
        std::erase_if(results, [](const auto& one) { return one.outcome == AssertionOutcome::not_evaluated; });
        if (results.empty()) {
            results.push_back(unmet(limit, report.cases));
        }
        for (AssertionResult& result : results) {
            judged.emplace_back(&limit, std::move(result));
        }
    }
    for (const auto& [limit, result] : judged) {
        std::erase_if(report.assertions, [&one = result](const AssertionResult& earlier) {
            return earlier.expression == one.expression;  // the result was held against this limit before
        });
    }
    for (auto& [limit, result] : judged) {
        fail_case(result, *limit, report.cases);
        result.is_limit = true;
        violated = violated || (result.outcome == AssertionOutcome::failed && result.severity == model::Severity::fail);
        report.assertions.push_back(std::move(result));
    }
    return violated;
}

void add_limits_to_write(Command& command, LimitsToWrite& limits)
{
    command.option(
        "--write-limits FILE", value::text(limits.path),
        "Write limits that this result just keeps, for --limits: of each bandwidth the least, of each latency "
        "the most");
    command.option("--margin PERCENT", value::defaulting(value::parsed(limits.margin, parse_margin), "10%"),
                   "Of --write-limits: how much worse than here is still healthy");
    command.flag("--force", limits.force, "Write limits also of figures that the result itself calls not trustworthy");
}

base::Expected<void> write_limits(const LimitsToWrite& limits, const model::RunReport& report)
{
    if (limits.path.empty()) {
        return {};
    }
    if (const auto doubts = measure::doubts_about_machine(report); !doubts.empty() && !limits.force) {
        std::vector<std::string> sentences;
        std::ranges::transform(doubts, std::back_inserter(sentences),
                               [](const measure::Finding& doubt) { return reporters::sentence(doubt); });
        return refuse(fmt::format("{}; measure again where nothing else runs, or write them all the same by --force",
                                  fmt::join(sentences, "; ")),
                      "--write-limits");
    }
    const auto made = limits_of(report, limits.margin);
    if (made.empty()) {
        return refuse("no case of this result has a bandwidth or a latency to limit", "--write-limits");
    }
    const std::string description =
        fmt::format("What {} reached on {}, within {}.", report.machine.host, report.run.started.substr(0, 10),
                    measure::format_percent(limits.margin));
    const std::string text = MEMSWEEP_TRY(scenarios::limits_text(made, description));
    return sys::write_file_atomically(limits.path, text);
}

}  // namespace memsweep::app
