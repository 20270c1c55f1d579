#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/limit_files.hpp"
#include "app/commands/results.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/trace_reports.hpp"
#include "core/measure/fleet.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
#include "reporters/formats.hpp"
#include "reporters/wording/history_words.hpp"

namespace memsweep::app {
namespace {

struct ReportCommand {
    std::vector<std::string> results;
    std::string format{"text"};
    std::string out;
    bool check{};
    bool debuginfod{};
    std::string limits;  // a file
    LimitsToWrite limits_to_write;
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
        std::vector<std::string> left_out;
        std::ranges::transform(report.histories.left_out, std::back_inserter(left_out), reporters::left_out_text);
        return refuse(fmt::format("no two runs of one scenario on one machine: {}", fmt::join(left_out, "; ")),
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

base::Expected<ExitCode> report_result(model::RunReport report, const ReportCommand& command,
                                       const GlobalOptions& global)
{
    const auto limits = limits_in(command.limits);
    if (!limits) {
        return ExitCode::bad_input;
    }
    const bool violated = judge_by_limits(*limits, report);
    ExitCode code = write_report(report, {command.format, command.out}, global);
    code = worse(code, settled(write_limits(command.limits_to_write, report)));
    return violated || (command.check && !measure::problems_of(report).empty()) ? worse(code, ExitCode::finding) : code;
}

// What can be asked of one result of one host alone; empty: nothing of it was.
std::string asked_of_one_result(const ReportCommand& command)
{
    return !command.limits.empty() ? "--limits" : !command.limits_to_write.path.empty() ? "--write-limits" : "";
}

base::Expected<ExitCode> refuse_debuginfod()
{
    return refuse("names the functions of a trace with call stacks", "--debuginfod");
}

// A trace with call stacks says who allocates, any other what it holds.
base::Expected<ExitCode> report_on_trace(const ReportCommand& command, const GlobalOptions& global)
{
    constexpr std::array<std::string_view, 4> formats{"text", "json", "md", "html"};
    if (std::ranges::find(formats, command.format) == formats.end()) {
        return refuse(fmt::format("a trace is written as {}, not as {}", fmt::join(formats, ", "), command.format),
                      "--format");
    }
    const std::string& trace = command.results.front();
    const bool has_stacks = MEMSWEEP_TRY(trace::TraceReader::open(trace)).has_stacks();
    constexpr std::uint64_t most_sites = 100;
    const TraceReportTo to{command.format, command.out};
    if (!has_stacks) {
        return command.debuginfod ? refuse_debuginfod() : report_trace(trace, to, global);
    }
    const trace::SiteQuery query{.debug_files = MEMSWEEP_TRY(debug_files(command.debuginfod))};
    return report_call_sites(trace, query, most_sites, to, global);
}

base::Expected<ExitCode> execute(const ReportCommand& command, const GlobalOptions& global)
{
    std::vector<std::string> inputs = command.results;
    inputs.push_back(command.limits);
    MEMSWEEP_TRY(check_one_stdin(inputs));
    MEMSWEEP_TRY(check_out(command.out, inputs));
    MEMSWEEP_TRY(check_distinct({{"--out", command.out}, {"--write-limits", command.limits_to_write.path}},
                                {{"--limits", command.limits}}));
    const std::string asked = asked_of_one_result(command);
    if (command.results.size() == 1 && !command.check && asked.empty() && is_trace(command.results.front())) {
        return report_on_trace(command, global);
    }
    if (command.debuginfod) {
        return refuse_debuginfod();
    }
    if (command.results.size() == 1) {
        AnyResult result = MEMSWEEP_TRY(read_any_result(command.results.front()));
        if (auto* report = std::get_if<model::RunReport>(&result)) {
            return report_result(std::move(*report), command, global);
        }
        return asked.empty() ? report_fleet(std::get<model::Fleet>(result), command, global)
                             : refuse("is for a result of one host, not for a fleet", asked);
    }
    if (command.check || !asked.empty()) {
        return refuse(command.check ? "checks one result, or one fleet" : "is for one result",
                      command.check ? "--check" : asked);
    }
    return report_history(command, global);
}

}  // namespace

void add_report(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("report", "Convert a result to another format");
    auto& report = arguments_of<ReportCommand>(command, global, execute);
    command.positional("result RESULT", value::texts(report.results),
                       "A result; or several, whose trends are shown; - is stdin. Or a trace (.mst): who allocates");
    const std::vector<std::string> formats = value::names_in(reporters::formats());
    command.format_option(report.format, value::offering(value::text(report.format), formats),
                          fmt::format("{} (memsweep list formats explains them)", fmt::join(formats, ", ")));
    command.option("-o,--out FILE", value::text(report.out),
                   "Where to write (default stdout); csv and gha write a file per part beside it");
    add_debuginfod(command, report.debuginfod);
    command.group = "Judging";
    command.flag("--check", report.check,
                 "Exit code 1 if a host of a fleet is bad (3: only missing), or something in a result does not hold");
    command
        .option("--limits FILE", value::text(report.limits),
                "Hold the figures against this file, or one that ships (h100, h200): exit code 1, and each violated "
                "limit is named; - is stdin")
        .look_up = shipped_limits;
    add_limits_to_write(command, report.limits_to_write);
    command.footer =
        "Several results of one scenario and machine make a history, in the order of their starts: every metric from "
        "run to run, and where its level changed. It is written as text, md, json, csv or html. A trace "
        "is "
        "written as text, md, json or html: with call stacks as `memsweep info --by site`, else as `memsweep info` "
        "does.";
}

}  // namespace memsweep::app
