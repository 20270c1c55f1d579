#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "core/measure/fleet.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {
namespace {

struct ReportCommand {
    std::vector<std::string> results;
    std::string format{"text"};
    std::string out;
    bool check{};
};

// One result after the other is read, and only its medians are kept.
base::Expected<ExitCode> report_history(const ReportCommand& command, const GlobalOptions& global)
{
    const auto format = reporters::find_format<reporters::HistoryReport>(command.format);
    if (!format) {
        return refuse(
            fmt::format("several results make a history, which is written as {}; convert them to {} one by one",
                        fmt::join(reporters::format_names<reporters::HistoryReport>(), ", "), command.format),
            "--format");
    }
    measure::HistoryBuilder builder;
    std::vector<base::Error> errors;
    for (const std::string& path : command.results) {
        if (auto result = read_result(path)) {
            builder.add(path, *result);
        } else {
            errors.push_back(std::move(result.error()));
        }
    }
    print_errors(errors);
    if (errors.size() == command.results.size()) {
        return ExitCode::bad_input;
    }
    const reporters::HistoryReport report{model::this_tool(), builder.finish({})};
    if (report.histories.histories.empty()) {
        return refuse(
            fmt::format("no two runs of one scenario on one machine: {}", fmt::join(report.histories.left_out, "; ")),
            "report");
    }
    return worse(errors.empty() ? ExitCode::done : ExitCode::bad_input, write_in(*format, report, command.out, global));
}

base::Expected<ExitCode> report_fleet(const model::Fleet& fleet, const ReportCommand& command,
                                      const GlobalOptions& global)
{
    const auto format = reporters::find_format<reporters::FleetReport>(command.format);
    if (!format) {
        return refuse(fmt::format("a fleet is written as {}; convert its hosts' results to {} one by one",
                                  fmt::join(reporters::format_names<reporters::FleetReport>(), ", "), command.format),
                      "--format");
    }
    const reporters::FleetReport report{&fleet, measure::judge_fleet(fleet)};
    const ExitCode written = write_in(*format, report, command.out, global);
    if (!command.check || measure::is_healthy(fleet, report.judgement)) {
        return written;
    }
    return worse(written, report.judgement.bad.empty() ? ExitCode::case_failed : ExitCode::finding);
}

base::Expected<ExitCode> execute(const ReportCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, command.results));
    if (command.results.size() == 1) {
        const AnyResult result = MEMSWEEP_TRY(read_any_result(command.results.front()));
        if (const auto* fleet = std::get_if<model::Fleet>(&result)) {
            return report_fleet(*fleet, command, global);
        }
        const auto& report = std::get<model::RunReport>(result);
        const ExitCode written = write_report(report, {command.format, command.out}, global);
        return command.check && !measure::problems_of(report).empty() ? worse(written, ExitCode::finding) : written;
    }
    if (command.check) {
        return refuse("checks one result, or one fleet", "--check");
    }
    MEMSWEEP_TRY(check_one_stdin(command.results));
    return report_history(command, global);
}

}  // namespace

void add_report(Command& program, const GlobalOptions& global)
{
    Command& command = program.command("report", "Convert a result to another format");
    auto& report = arguments_of<ReportCommand>(command, global, execute);
    command.positional("result RESULT", value::texts(report.results),
                       "A result; or several, whose trends are shown; - is stdin");
    const std::vector<std::string> formats = value::names_in(reporters::formats());
    command.format_option(report.format, value::offering(value::text(report.format), formats),
                          fmt::format("{} (memsweep list formats explains them)", fmt::join(formats, ", ")));
    command.option("-o,--out FILE", value::text(report.out),
                   "Where to write (default stdout); csv and gha write a file per part beside it");
    command.flag("--check", report.check,
                 "Exit code 1 if a host of a fleet is bad (3: only missing), or something in a result does not hold");
    command.footer =
        "Several results of one scenario and machine make a history, in the order their runs were started: every "
        "metric from run to run, and where it changed its level. It is written as text, md, json, csv or html.";
}

}  // namespace memsweep::app
