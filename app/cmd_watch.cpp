#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/report_output.hpp"
#include "app/this_machine.hpp"
#include "app/watching.hpp"
#include "core/sys/foreground_command.hpp"
#include "core/sys/process_tree.hpp"
#include "reporters/sparkline.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::app {
namespace {

constexpr int columns = 48;

std::string curve_line(const model::CaseReport& watched, std::string_view name, const std::string& words)
{
    for (const model::Series& series : watched.series) {
        if (series.name == name && !series.v.empty()) {
            const double top = *std::ranges::max_element(series.v);
            return fmt::format("{:<14} {}  {}\n", name,
                               reporters::sparkline(series, series.t.back() * 1.001, top, columns), words);
        }
    }
    return fmt::format("{:<14} {}\n", name, words);
}

std::string text_of(const model::RunReport& report, const WatchCommand& command, const sys::ExitStatus& status)
{
    const model::CaseReport& watched = report.cases.front();
    const auto value = [&](std::string_view name) {
        const model::Metric* const metric = model::find_metric(watched, name);
        return metric != nullptr ? metric->values.front().value_or(0) : 0;
    };
    const auto figure = [&](std::string_view name, model::Unit unit) {
        return reporters::value_text(value(name), unit);
    };
    std::string text = fmt::format("{}: {}\n", reporters::command_line(command.command), status.describe());
    text += curve_line(watched, "working_set", "peak " + figure("working_set_peak", model::Unit::bytes));
    text += curve_line(watched, "minor_faults", figure("minor_faults", model::Unit::one) + " in all");
    text += curve_line(watched, "major_faults", figure("major_faults", model::Unit::one) + " in all");
    const model::Metric* const stall = model::find_metric(watched, "memory_stall_time");
    text += stall != nullptr && stall->values.front()
                ? curve_line(watched, "memory_stall",
                             reporters::value_text(*stall->values.front(), model::Unit::seconds) +
                                 " of the time some task of this machine waited for memory")
                : curve_line(watched, "memory_stall", "not known: the kernel keeps no pressure figures");
    text += fmt::format("{} on the wall, {} of processors; {} samples\n", figure("wall_time", model::Unit::seconds),
                        figure("cpu_time", model::Unit::seconds), watched.series.front().v.size());
    return text;
}

// The text goes beside what the command has printed itself.
ExitCode put_out(const model::RunReport& report, const WatchCommand& command, const sys::ExitStatus& status,
                 const GlobalOptions& global)
{
    if (command.format != "text") {
        return write_report(report, {command.format, command.out}, global);
    }
    const std::string text = text_of(report, command, status);
    if (command.out.empty()) {
        std::fputs(text.c_str(), stderr);
        return ExitCode::done;
    }
    return write_text(text, command.out);
}

}  // namespace

ExitCode execute(const WatchCommand& command, const GlobalOptions& global)
{
    if (const ExitCode usable = check_target({command.format, command.out}); usable != ExitCode::done) {
        return usable;
    }
    sys::adopt_orphans();
    Watching watching{command.command};
    auto running = sys::ForegroundCommand::start(command.command, {});
    if (!running) {
        print_error(running.error());
        return ExitCode::bad_input;
    }
    watching.begin();
    const sys::ExitStatus status = running->wait(command.interval, [&] { watching.sample(); });
    const model::RunReport report = watching.finish(status, this_machine(), global.argv);
    const ExitCode written = put_out(report, command, status, global);
    const int code = sys::shell_status(status);
    return code != 0 ? static_cast<ExitCode>(code) : written;
}

}  // namespace memsweep::app
