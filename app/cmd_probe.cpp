#include <csignal>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/launched.hpp"
#include "app/probe_limits.hpp"
#include "app/probing.hpp"
#include "app/report_output.hpp"
#include "app/result_path.hpp"
#include "app/shipped.hpp"
#include "core/sys/atomic_file.hpp"
#include "core/sys/machine_facts.hpp"
#include "scenarios/files.hpp"
#include "scenarios/transfer_scenario.hpp"

namespace memsweep::app {
namespace {

// What there is to say goes to the file and, as text, to the terminal; or as the one format to stdout.
std::vector<ReportTarget> targets(const ProbeCommand& command, const GlobalOptions& global)
{
    const bool to_file = !command.out.empty() && command.out != "-";
    if (!to_file) {
        const std::string format = !command.format.empty() ? command.format : command.out == "-" ? "json" : "text";
        return global.quiet && format == "text" ? std::vector<ReportTarget>{}
                                                : std::vector<ReportTarget>{{format, "-"}};
    }
    std::vector<ReportTarget> both{{command.format.empty() ? "json" : command.format, command.out}};
    if (!global.quiet) {
        both.push_back({"text", "-"});
    }
    return both;
}

base::Expected<std::string> output_path(const ProbeCommand& command)
{
    const std::string host = sys::machine_facts().host;
    if (auto shared = shared_path(command.out, this_placement(host)); shared && !command.out.empty()) {
        return base::fail(*std::move(shared));
    }
    return command.out == "-" ? command.out : expand_path(command.out, {host, probe_name(command), sys::utc_now()});
}

ExitCode exit_code(const model::RunReport& report, const sys::StopSignals& signals)
{
    if (report.run.interrupted) {
        return signals.last() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    }
    const model::Counts counts = model::count(report);
    const ExitCode code = counts.errors != 0 ? ExitCode::case_failed : ExitCode::done;
    return counts.failed + counts.assertions_failed != 0 ? worse(code, ExitCode::finding) : code;
}

// None where no file was named; nothing where it cannot be read, and every error is on stderr.
std::optional<std::vector<scenarios::ProbeLimit>> limits_of(const ProbeCommand& command)
{
    if (command.limits.empty()) {
        return std::vector<scenarios::ProbeLimit>{};
    }
    auto loaded = scenarios::load_limits(command.limits);
    if (!loaded) {
        for (const base::Error& error : loaded.error()) {
            print_error(error);
        }
        return std::nullopt;
    }
    return *std::move(loaded);
}

ExitCode dump_scenario(const ProbeCommand& command)
{
    constexpr std::uint64_t usual_bytes = 64U << 20U;
    constexpr std::uint32_t usual_repetitions = 7;
    const auto made = command.preset.empty()
                          ? base::Expected<std::string>{scenarios::transfer_scenario(
                                command.transfers, command.array_bytes.value_or(usual_bytes),
                                command.samples.value_or(usual_repetitions))}
                          : scenarios::read_text_file(shipped("scenarios/catalog/probe_" + command.preset + ".json"));
    if (!made) {
        print_error(made.error());
        return ExitCode::bad_input;
    }
    const std::string& text = *made;
    if (command.out.empty() || command.out == "-") {
        return print_data(text) ? ExitCode::done : ExitCode::bad_input;
    }
    if (const auto written = sys::write_file_atomically(command.out, text); !written) {
        print_error(written.error());
        return ExitCode::bad_input;
    }
    return ExitCode::done;
}

}  // namespace

ExitCode execute(const ProbeCommand& given, const GlobalOptions& global)
{
    ProbeCommand command = given;
    if (auto path = output_path(given)) {
        command.out = *std::move(path);
    } else {
        print_error(path.error());
        return ExitCode::bad_input;
    }
    if (command.dump_scenario) {
        return dump_scenario(command);
    }
    const std::vector<ReportTarget> wanted = targets(command, global);
    for (const ReportTarget& target : wanted) {
        if (check_target(target) != ExitCode::done) {
            return ExitCode::bad_input;
        }
    }
    const auto limits = limits_of(command);
    if (!limits) {
        return ExitCode::bad_input;
    }
    const sys::StopSignals signals;
    const sys::SystemClock clock;
    auto report = probe(command, global, clock, signals);
    if (!report) {
        print_error(report.error());
        return ExitCode::bad_input;
    }
    judge(*limits, *report);
    ExitCode code = exit_code(*report, signals);
    report->run.exit_code = static_cast<int>(code);
    for (const ReportTarget& target : wanted) {
        code = worse(code, write_report(*report, target, global));
    }
    return code;
}

}  // namespace memsweep::app
