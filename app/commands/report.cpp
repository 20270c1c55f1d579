#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/global_options.hpp"
#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/result_io.hpp"
#include "core/measure/fleet.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
#include "reporters/formats.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct ReportCommand {
    std::vector<std::string> results;
    std::string format{"text"};
    std::string out;
    bool check{};
};

// What several hosts or runs make together.
template <typename Report>
ExitCode write_together(const Report& report, const reporters::Format& format, const ReportCommand& command,
                        const GlobalOptions& global)
{
    const bool to_screen = command.out.empty() || command.out == "-";
    if (to_screen && command.format == "text") {
        return write_text(reporters::to_terminal(report, terminal_style(global)), command.out);
    }
    const auto write = [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        format.write(report, sink);
        return sink.finish();
    };
    if (to_screen) {
        return write(print_data) ? ExitCode::done : ExitCode::bad_input;
    }
    const auto written =
        sys::write_file_atomically(command.out, [&](const sys::PieceTaker& take) { static_cast<void>(write(take)); });
    if (!written) {
        print_error(written.error());
        return ExitCode::bad_input;
    }
    return ExitCode::done;
}

// One result after the other is read, and only its medians are kept.
ExitCode report_history(const ReportCommand& command, const GlobalOptions& global)
{
    measure::HistoryBuilder builder;
    ExitCode code = ExitCode::done;
    for (const std::string& path : command.results) {
        if (const auto result = read_result(path)) {
            builder.add(path, *result);
        } else {
            print_error(result.error());
            code = ExitCode::bad_input;
        }
    }
    const reporters::HistoryReport report{model::this_tool(), builder.finish({})};
    if (report.histories.histories.empty()) {
        print_error(
            {base::ErrorCode::invalid_input,
             fmt::format("no two runs of one scenario on one machine: {}", fmt::join(report.histories.left_out, "; ")),
             "report"});
        return ExitCode::bad_input;
    }
    return worse(code, write_together(report, *reporters::find_format(command.format, reporters::Subject::history),
                                      command, global));
}

ExitCode report_fleet(const model::Fleet& fleet, const ReportCommand& command, const GlobalOptions& global)
{
    const auto format = reporters::find_format(command.format, reporters::Subject::fleet);
    if (!format) {
        print_error({base::ErrorCode::invalid_input,
                     fmt::format("a fleet is written as {}; convert its hosts' results to {} one by one",
                                 fmt::join(reporters::format_names(reporters::Subject::fleet), ", "), command.format),
                     "--format"});
        return ExitCode::bad_input;
    }
    const reporters::FleetReport report{&fleet, measure::judge_fleet(fleet)};
    const ExitCode written = write_together(report, *format, command, global);
    if (!command.check || measure::is_healthy(fleet, report.judgement)) {
        return written;
    }
    return worse(written, report.judgement.bad.empty() ? ExitCode::case_failed : ExitCode::finding);
}

ExitCode execute(const ReportCommand& command, const GlobalOptions& global)
{
    if (command.results.size() == 1) {
        const auto result = read_any_result(command.results.front());
        if (!result) {
            print_error(result.error());
            return ExitCode::bad_input;
        }
        if (const auto* fleet = std::get_if<model::Fleet>(&*result)) {
            return report_fleet(*fleet, command, global);
        }
        const auto& report = std::get<model::RunReport>(*result);
        const ExitCode written = write_report(report, {command.format, command.out}, global);
        return command.check && !measure::problems_of(report).empty() ? worse(written, ExitCode::finding) : written;
    }
    if (command.check) {
        print_error({base::ErrorCode::invalid_input, "checks one result, or one fleet", "--check"});
        return ExitCode::bad_input;
    }
    if (std::ranges::count(command.results, "-") > 1) {
        print_error({base::ErrorCode::invalid_input, "the standard input holds one result only", "-"});
        return ExitCode::bad_input;
    }
    if (!reporters::find_format(command.format, reporters::Subject::history)) {
        print_error(
            {base::ErrorCode::invalid_input,
             fmt::format("several results make a history, which is written as {}; convert them to {} one by one",
                         fmt::join(reporters::format_names(reporters::Subject::history), ", "), command.format),
             "--format"});
        return ExitCode::bad_input;
    }
    return report_history(command, global);
}

}  // namespace

void add_report(Command& program, const GlobalOptions& global)
{
    const auto report = std::make_shared<ReportCommand>();
    Command& command = program.command("report", "Convert a result to another format");
    command
        .positional("result RESULT", value::texts(report->results),
                    "A result; or several, whose trends are shown; - is stdin")
        .required = true;
    const std::vector<std::string> formats = value::names_in(reporters::formats());
    command
        .option("-f,--format FMT", value::text(report->format),
                fmt::format("{} (memsweep list formats explains them)", fmt::join(formats, ", ")))
        .words = formats;
    command.option("-o,--out FILE", value::text(report->out),
                   "Where to write (default stdout); csv and gha write a file per part beside it");
    command.flag("--check", report->check,
                 "Exit code 1 if a host of a fleet is bad (3: only missing), or something in a result does not hold");
    command.footer =
        "Several results of one scenario and machine make a history, in the order their runs were started: every "
        "metric from run to run, and where it changed its level. It is written as text, md, json, csv or html.";
    command.run = [report, &global] { return execute(*report, global); };
}

}  // namespace memsweep::app
