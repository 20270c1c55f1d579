#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/comparing.hpp"
#include "app/comparison_criteria.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"
#include "app/terminal_style.hpp"
#include "core/measure/phase_cases.hpp"
#include "reporters/comparison_formats.hpp"
#include "reporters/comparison_terminal.hpp"

namespace memsweep::app {
namespace {

// Every result, or every error on stderr.
std::optional<std::vector<model::RunReport>> read_all(const std::vector<std::string>& paths)
{
    std::vector<model::RunReport> results;
    for (const std::string& path : paths) {
        auto result = read_result(path);
        if (!result) {
            print_error(result.error());
            continue;
        }
        if (result->run.interrupted) {
            print_note(fmt::format("{}: its run did not finish; what it measured is compared", path));
        }
        results.push_back(*std::move(result));
    }
    return results.size() == paths.size() ? std::optional{std::move(results)} : std::nullopt;
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

}  // namespace

ExitCode execute(const CompareCommand& command, const GlobalOptions& global)
{
    if (!can_write(command)) {
        return ExitCode::bad_input;
    }
    auto results = read_all(command.results);
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
