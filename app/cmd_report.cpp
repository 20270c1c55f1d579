#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"
#include "app/terminal_style.hpp"
#include "core/sys/atomic_file.hpp"
#include "reporters/history_formats.hpp"
#include "reporters/history_terminal.hpp"

namespace memsweep::app {
namespace {

ExitCode write_history(const reporters::HistoryReport& report, const ReportCommand& command,
                       const GlobalOptions& global)
{
    const bool to_screen = command.out.empty() || command.out == "-";
    if (to_screen && command.format == "text") {
        return write_text(reporters::to_terminal(report, terminal_style(global)), command.out);
    }
    const auto write = [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        reporters::find_history_format(command.format)->write(report, sink);
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
    return worse(code, write_history(report, command, global));
}

std::string history_format_names()
{
    std::vector<std::string_view> names;
    for (const reporters::HistoryFormat& format : reporters::history_formats()) {
        names.push_back(format.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

ExitCode execute(const ReportCommand& command, const GlobalOptions& global)
{
    if (command.results.size() == 1) {
        const auto result = read_result(command.results.front());
        if (!result) {
            print_error(result.error());
            return ExitCode::bad_input;
        }
        return write_report(*result, {command.format, command.out}, global);
    }
    if (std::ranges::count(command.results, "-") > 1) {
        print_error({base::ErrorCode::invalid_input, "the standard input holds one result only", "-"});
        return ExitCode::bad_input;
    }
    if (reporters::find_history_format(command.format) == nullptr) {
        print_error(
            {base::ErrorCode::invalid_input,
             fmt::format("several results make a history, which is written as {}; convert them to {} one by one",
                         history_format_names(), command.format),
             "--format"});
        return ExitCode::bad_input;
    }
    return report_history(command, global);
}

}  // namespace memsweep::app
