#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/comparing.hpp"
#include "app/commands/results.hpp"
#include "app/commands/shipped.hpp"
#include "core/base/text.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/fleet.hpp"
#include "core/measure/verdict.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {
namespace {

struct CompareCommand {
    std::vector<std::string> results;
    std::vector<std::pair<std::string, std::string>> between;     // AXIS, VALUE: the base, then the candidate; or empty
    std::vector<std::string> metrics;                             // empty: all
    std::vector<std::pair<std::string, std::string>> thresholds;  // METRIC, "5%,1MiB"
    std::string gate;                                             // a file or the name of one that ships
    std::string format{"text"};
    std::string out;
    bool points{};
    bool strict_counters{};
    bool no_gate{};
    bool only_changed{};
    bool explain{};
    bool force{};
};

using Units = std::map<std::string, model::Unit, std::less<>>;

void add_points(const model::CaseReport& report, Units& units)
{
    for (const std::string_view point : measure::point_names(report)) {
        for (const model::MetricInfo& metric : model::point_catalog()) {
            units.emplace(fmt::format("{}.{}", point, metric.name), metric.unit);
        }
    }
}

Units known_metrics(const std::vector<model::RunReport>& results)
{
    Units units;
    for (const model::RunReport& result : results) {
        for (const model::CaseReport& one : result.cases) {
            for (const model::Metric& metric : one.metrics) {
                units.emplace(metric.name, metric.unit);
            }
            add_points(one, units);
        }
    }
    for (const model::MetricInfo& metric : model::metric_catalog()) {
        units.emplace(metric.name, metric.unit);
    }
    return units;
}

void print_unknown(const std::string& name, const Units& units, std::string flag)
{
    std::vector<std::string_view> known;
    std::ranges::transform(units, std::back_inserter(known), &Units::value_type::first);
    const std::string_view near = base::nearest(name, known);
    print_error(
        {base::ErrorCode::invalid_input,
         fmt::format("unknown metric \"{}\"; {}", name,
                     near.empty() ? "memsweep list metrics names them" : fmt::format("did you mean \"{}\"?", near)),
         std::move(flag)});
}

bool add_threshold(const std::string& name, const std::string& text, const Units& units, measure::Criteria& criteria)
{
    const auto unit = units.find(name);
    if (unit == units.end()) {
        print_unknown(name, units, "--threshold");
        return false;
    }
    const auto threshold = measure::parse_threshold(text, unit->second);
    if (!threshold) {
        print_error(
            {base::ErrorCode::invalid_input, fmt::format("{}: {}", name, threshold.error().message), "--threshold"});
        return false;
    }
    criteria.thresholds.insert_or_assign(name, *threshold);
    return true;
}

// The gate file, changed by --metric and --threshold. Metrics are those that memsweep knows and those that the
// results hold. Empty after the errors were printed.
std::optional<measure::Criteria> comparison_criteria(const CompareCommand& command,
                                                     const std::vector<model::RunReport>& results)
{
    auto criteria = gate_criteria(command.gate);
    if (!criteria) {
        return std::nullopt;
    }
    const Units units = known_metrics(results);
    bool valid = true;
    for (const auto& [name, text] : command.thresholds) {
        valid = add_threshold(name, text, units, *criteria) && valid;
    }
    criteria->points = command.points;
    criteria->strict_counters = command.strict_counters;
    for (const std::string& name : command.metrics) {
        criteria->points = criteria->points || name.find('.') != std::string::npos;
        criteria->only.insert(name);
        if (!units.contains(name)) {
            print_unknown(name, units, "--metric");
            valid = false;
        }
    }
    return valid ? criteria : std::nullopt;
}

struct Inputs {
    std::vector<model::RunReport> results;
    std::vector<model::Fleet> fleets;
};

// Every result, or every error on stderr.
std::optional<Inputs> read_all(const std::vector<std::string>& paths)
{
    Inputs inputs;
    std::vector<base::Error> errors;
    for (const std::string& path : paths) {
        auto result = read_any_result(path);
        if (!result) {
            errors.push_back(std::move(result.error()));
            continue;
        }
        if (auto* fleet = std::get_if<model::Fleet>(&*result)) {
            inputs.fleets.push_back(std::move(*fleet));
            continue;
        }
        auto& report = std::get<model::RunReport>(*result);
        if (report.run.interrupted) {
            print_note(fmt::format("{}: its run did not finish; what it measured is compared", path));
        }
        inputs.results.push_back(std::move(report));
    }
    print_errors(errors);
    return errors.empty() ? std::optional{std::move(inputs)} : std::nullopt;
}

bool is_between_phases(const CompareCommand& command)
{
    const auto is_phase = [](const auto& one) { return one.first == measure::phase_axis; };
    return !command.between.empty() && std::ranges::all_of(command.between, is_phase);
}

// Those that are comparable; the reasons of the others are on stderr.
std::vector<measure::Comparison> comparisons_of(const CompareCommand& command,
                                                const std::vector<model::RunReport>& results,
                                                const measure::Criteria& criteria)
{
    std::vector<measure::Comparison> comparisons;
    const auto keep = [&](base::Expected<measure::Comparison> comparison) {
        if (comparison) {
            comparisons.push_back(*std::move(comparison));
        } else {
            print_error(comparison.error());
        }
    };
    if (!command.between.empty()) {
        const auto family = [](const value::Pair& axis) { return model::RatioOf{axis.first, axis.second}; };
        keep(measure::compare_families(results.front(), family(command.between[0]), family(command.between[1]),
                                       criteria));
        return comparisons;
    }
    const NamedResult base{command.results.front(), &results.front()};
    for (std::size_t i = 1; i < results.size(); ++i) {
        keep(compare_named(base, {command.results[i], &results[i]}, criteria, command.force));
    }
    return comparisons;
}

// What fleets cannot be asked; empty: nothing of it was.
std::string not_of_fleets(const CompareCommand& command, const Inputs& inputs)
{
    if (!inputs.results.empty()) {
        return "fleets are compared with fleets; these are fleets and results of one host";
    }
    if (!command.between.empty() || command.points || command.strict_counters || !command.metrics.empty()) {
        return "--between, --points, --strict-counters and --metric are for results of one host";
    }
    return !reporters::find_format<reporters::FleetTrendReport>(command.format)
               ? fmt::format("fleets are compared as text, md, json or html, not as {}", command.format)
               : std::string{};
}

ExitCode fleet_exit_code(const measure::FleetTrend& trend, bool gate)
{
    const bool worse = measure::count_changes(trend, measure::Verdict::regressed) > 0 || !trend.newly_bad.empty() ||
                       std::ranges::any_of(trend.outlying, &measure::HostChange::is_worse);
    if (gate && worse) {
        return ExitCode::finding;
    }
    const std::size_t untold = measure::count_changes(trend, measure::Verdict::insufficient);
    return untold == trend.changes.size() ? ExitCode::no_verdict : ExitCode::done;
}

base::Expected<ExitCode> compare_fleets(const CompareCommand& command, const Inputs& inputs,
                                        const GlobalOptions& global)
{
    if (const std::string problem = not_of_fleets(command, inputs); !problem.empty()) {
        return refuse(problem, "compare");
    }
    const auto criteria = comparison_criteria(command, {});
    if (!criteria) {
        return ExitCode::bad_input;
    }
    reporters::FleetTrendReport report{.only_changed = command.only_changed};
    ExitCode code = ExitCode::done;
    for (std::size_t i = 1; i < inputs.fleets.size(); ++i) {
        auto trend =
            measure::compare_fleets({command.results.front(), &inputs.fleets.front()},
                                    {command.results[i], &inputs.fleets[i]}, criteria->thresholds, command.force);
        if (!trend) {
            print_error(trend.error());
            code = ExitCode::bad_input;
            continue;
        }
        code = worse(code, fleet_exit_code(*trend, !command.no_gate));
        report.trends.push_back(*std::move(trend));
    }
    if (report.trends.empty()) {
        return ExitCode::bad_input;
    }
    const auto format = reporters::find_format<reporters::FleetTrendReport>(command.format);
    return worse(code, write_in(*format, report, command.out, global));
}

base::Expected<ExitCode> execute(const CompareCommand& command, const GlobalOptions& global)
{
    const auto format = MEMSWEEP_TRY(reporters::find_format<reporters::ComparisonReport>(command.format));
    MEMSWEEP_TRY(check_one_stdin(command.results));
    MEMSWEEP_TRY(check_out(command.out, command.results));
    auto read = read_all(command.results);
    if (read && !read->fleets.empty()) {
        return compare_fleets(command, *read, global);
    }
    const auto criteria = read ? comparison_criteria(command, read->results) : std::nullopt;
    if (!criteria) {
        return ExitCode::bad_input;
    }
    model::RunReport& first = read->results.front();
    if (is_between_phases(command) && !measure::has_phase_axis(first)) {
        first = measure::by_phase(first);
    }
    reporters::ComparisonReport report{.tool = model::this_tool(),
                                       .comparisons = comparisons_of(command, read->results, *criteria),
                                       .gate = !command.no_gate,
                                       .only_changed = command.only_changed,
                                       .explain = command.explain};
    if (report.comparisons.empty()) {
        return ExitCode::bad_input;
    }
    const std::size_t wanted = command.between.empty() ? read->results.size() - 1 : 1;
    ExitCode code = report.comparisons.size() == wanted ? ExitCode::done : ExitCode::bad_input;
    for (const measure::Comparison& comparison : report.comparisons) {
        code = worse(code, exit_code_of(comparison, report.gate));
    }
    note_unjudged({command.thresholds.begin(), command.thresholds.end()}, report.comparisons);
    const bool silent = global.quiet && command.format == "text" && command.out.empty();
    return silent ? code : worse(code, write_in(format, report, command.out, global));
}

void add_judging(Command& command, CompareCommand& compare)
{
    command.group = "Judging";
    OptionValue metrics = value::texts(compare.metrics, Arity::each_time);
    command.option("--metric METRIC", value::offering(std::move(metrics), value::names_in(model::metric_catalog())),
                   "Only this metric (repeatable; memsweep list metrics)");
    command.option("--threshold METRIC=PERCENT[,ABS]", value::pairs(compare.thresholds, "NAME=VALUE", Arity::each_time),
                   "How much a metric may change: wall_time=5%, working_set_peak=2%,1MiB (repeatable)");
    command
        .option("--gate FILE", value::text(compare.gate),
                "Take thresholds from a gate file, or one that ships (memory)")
        .look_up = shipped_gates;
    command.flag("--strict-counters", compare.strict_counters,
                 "Every change of an exact counter counts, below 0.1 % and 4 KiB too");
    command.flag("--points", compare.points, "Also compare what named points measured, as POINT.METRIC");
    command.flag("--no-gate", compare.no_gate, "Show regressions, but exit with 0");
    command.flag("--force", compare.force, "Compare different scenarios or machines all the same");
    command.group = "Output";
    command.flag("--only-changed", compare.only_changed, "Leave out what is the same or cannot be told");
    command.flag("--explain", compare.explain, "Say how each verdict came about, and what would have changed it");
}

base::Expected<void> check(const CompareCommand& compare)
{
    if (!compare.between.empty() && compare.results.size() != 1) {
        return refuse("compares the cases of one result; name exactly one", "--between");
    }
    if (compare.between.empty() && compare.results.size() < 2) {
        return refuse("name a base and at least one candidate, or one result and --between", "RESULT");
    }
    return {};
}

}  // namespace

void add_compare(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("compare", "Compare results, or two case families of one");
    auto& compare = arguments_of<CompareCommand>(command, global, execute);
    command.positional("result RESULT", value::texts(compare.results),
                       "The base, then its candidates; with --between one result; - is stdin");
    command.group = "Cases";
    command.option("--between AXIS=VALUE AXIS=VALUE", value::pairs(compare.between, "NAME=VALUE", Arity::two),
                   "Compare two case families of one result: mode=refcount mode=finalizer; the first is the base; two "
                   "phases of each case too: phase=warm phase=cold");
    add_judging(command, compare);
    const auto formats = reporters::format_names<reporters::ComparisonReport>();
    command.format_option(compare.format,
                          value::offering(value::text(compare.format), {formats.begin(), formats.end()}),
                          "text, md, json, junit or html");
    command.option("-o,--out FILE", value::text(compare.out), "Where to write (default stdout)");
    command.footer = "Exit codes: 0 no regression; 1 a metric regressed or a case began to fail; 2 unreadable, or not "
                     "comparable; 5 no verdict: too few repetitions.";
    command.check = [&compare] { return check(compare); };
}

}  // namespace memsweep::app
