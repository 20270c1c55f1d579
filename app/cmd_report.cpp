#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "app/read_result.hpp"
#include "app/report_output.hpp"
#include "app/terminal_style.hpp"
#include "core/measure/fleet.hpp"
#include "core/measure/fleet_judgement.hpp"
#include "core/sys/atomic_file.hpp"
#include "reporters/fleet_formats.hpp"
#include "reporters/history_formats.hpp"
#include "reporters/history_terminal.hpp"

namespace memsweep::app {
namespace {

// `format` has a `write` for what several hosts or runs make together.
template <typename Report, typename Format>
ExitCode write_together(const Report& report, const Format& format, const ReportCommand& command,
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
    return worse(code, write_together(report, *reporters::find_history_format(command.format), command, global));
}

ExitCode report_fleet(const model::Fleet& fleet, const ReportCommand& command, const GlobalOptions& global)
{
    const reporters::FleetFormat* format = reporters::find_fleet_format(command.format);
    if (format == nullptr) {
        std::vector<std::string_view> names;
        for (const reporters::FleetFormat& one : reporters::fleet_formats()) {
            names.push_back(one.name);
        }
        print_error({base::ErrorCode::invalid_input,
                     fmt::format("a fleet is written as {}; convert its hosts' results to {} one by one",
                                 fmt::join(names, ", "), command.format),
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
