#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/comparing.hpp"
#include "app/comparison_criteria.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"
#include "app/terminal_style.hpp"
#include "core/measure/fleet_trend.hpp"
#include "core/measure/phase_cases.hpp"
#include "reporters/comparison_formats.hpp"
#include "reporters/comparison_terminal.hpp"
#include "reporters/fleet_trend_formats.hpp"

namespace memsweep::app {
namespace {

struct Inputs {
    std::vector<model::RunReport> results;
    std::vector<model::Fleet> fleets;
};

// Every result, or every error on stderr.
std::optional<Inputs> read_all(const std::vector<std::string>& paths)
{
    Inputs inputs;
    for (const std::string& path : paths) {
        auto result = read_any_result(path);
        if (!result) {
            print_error(result.error());
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
    return inputs.results.size() + inputs.fleets.size() == paths.size() ? std::optional{std::move(inputs)}
                                                                        : std::nullopt;
}

bool can_write(const CompareCommand& command)
{
    if (const auto format = reporters::find_comparison_format(command.format); !format) {
        print_error(format.error());
        return false;
    }
    if (std::ranges::count(command.results, "-") > 1) {
        print_error({base::ErrorCode::invalid_input, "the standard input holds one result only", "-"});
        return false;
    }
    return true;
}

model::RatioOf family(const std::pair<std::string, std::string>& text)
{
    return {text.first, text.second};
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

std::string rendered(const reporters::ComparisonReport& report, const CompareCommand& command,
                     const GlobalOptions& global)
{
    if (command.format == "text" && (command.out.empty() || command.out == "-")) {
        return reporters::to_terminal(report, terminal_style(global));
    }
    return reporters::find_comparison_format(command.format)->write(report);
}

// What fleets cannot be asked; empty: nothing of it was.
std::string not_of_fleets(const CompareCommand& command, const Inputs& inputs)
{
    if (!inputs.results.empty()) {
        return "fleets are compared with fleets; these are fleets and results of one host";
    }
    if (!command.between.empty() || command.points || !command.metrics.empty()) {
        return "--between, --points and --metric are for results of one host";
    }
    return reporters::find_fleet_trend_format(command.format) == nullptr
               ? fmt::format("fleets are compared as text, md, json or html, not as {}", command.format)
               : std::string{};
}

ExitCode exit_code_of(const measure::FleetTrend& trend, bool gate)
{
    const bool worse = measure::count_changes(trend, measure::Verdict::regressed) > 0 || !trend.newly_bad.empty() ||
                       std::ranges::any_of(trend.outlying, &measure::HostChange::is_worse);
    if (gate && worse) {
        return ExitCode::finding;
    }
    const std::size_t untold = measure::count_changes(trend, measure::Verdict::insufficient);
    return untold == trend.changes.size() ? ExitCode::no_verdict : ExitCode::done;
}

ExitCode compare_fleets(const CompareCommand& command, const Inputs& inputs, const GlobalOptions& global)
{
    if (const std::string problem = not_of_fleets(command, inputs); !problem.empty()) {
        print_error({base::ErrorCode::invalid_input, problem, "compare"});
        return ExitCode::bad_input;
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
        code = worse(code, exit_code_of(*trend, !command.no_gate));
        report.trends.push_back(*std::move(trend));
    }
    if (report.trends.empty()) {
        return ExitCode::bad_input;
    }
    const bool to_screen = command.format == "text" && (command.out.empty() || command.out == "-");
    return worse(code, write_text(to_screen ? reporters::to_terminal(report, terminal_style(global))
                                            : reporters::find_fleet_trend_format(command.format)->write(report),
                                  command.out));
}

}  // namespace

ExitCode execute(const CompareCommand& command, const GlobalOptions& global)
{
    if (!can_write(command)) {
        return ExitCode::bad_input;
    }
    auto read = read_all(command.results);
    if (read && !read->fleets.empty()) {
        return compare_fleets(command, *read, global);
    }
    auto* results = read ? &read->results : nullptr;
    const auto criteria = results ? comparison_criteria(command, *results) : std::nullopt;
    if (!criteria) {
        return ExitCode::bad_input;
    }
    if (is_between_phases(command) && !measure::has_phase_axis(results->front())) {
        results->front() = measure::by_phase(results->front());
    }
    reporters::ComparisonReport report{.tool = model::this_tool(),
                                       .comparisons = comparisons_of(command, *results, *criteria),
                                       .gate = !command.no_gate,
                                       .only_changed = command.only_changed,
                                       .explain = command.explain};
    if (report.comparisons.empty()) {
        return ExitCode::bad_input;
    }
    const std::size_t wanted = command.between.empty() ? results->size() - 1 : 1;
    ExitCode code = report.comparisons.size() == wanted ? ExitCode::done : ExitCode::bad_input;
    for (const measure::Comparison& comparison : report.comparisons) {
        code = worse(code, exit_code_of(comparison, report.gate));
    }
    const bool silent = global.quiet && command.format == "text" && command.out.empty();
    return silent ? code : worse(code, write_text(rendered(report, command, global), command.out));
}

}  // namespace memsweep::app
