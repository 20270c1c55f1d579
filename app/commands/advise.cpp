#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/advising.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/program_input.hpp"
#include "app/commands/results.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/quantity.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/sys/signals.hpp"
#include "reporters/document/advice.hpp"
#include "reporters/formats.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

struct AdviseCommand {
    std::vector<std::string> words;
    std::string want{"rss@end"};
    std::string keep{"cpu_time<=1.05x"};
    std::string budget;  // a duration, or a number of runs
    model::EndOfWork end{.sign = model::EndSign::exit, .text = {}};
    std::string stdin_file;
    std::vector<ReportTarget> reports;
    scenarios::Overrides overrides;
    std::string resume;
    bool shell{};
};

struct Want {
    WantedAt at{};
    std::chrono::nanoseconds idle{};
};

base::Expected<Want> read_want(const std::string& text)
{
    constexpr std::string_view idle = "rss@idle=";
    if (text == "rss@end") {
        return Want{.at = WantedAt::end};
    }
    if (text == "rss@peak") {
        return Want{.at = WantedAt::peak};
    }
    if (text.starts_with(idle)) {
        const auto time = base::parse_duration(std::string_view{text}.substr(idle.size()));
        if (time && time->count() > 0) {
            return Want{.at = WantedAt::idle, .idle = *time};
        }
    }
    return refuse(fmt::format("takes rss@end, rss@peak or rss@idle=TIME as in rss@idle=12s, not \"{}\"", text),
                  "--want");
}

struct Keep {
    std::string metric;
    double at_most{};
};

base::Expected<Keep> read_keep(const std::string& text)
{
    for (const std::string metric : {"cpu_time", "wall_time"}) {
        const std::string before = metric + "<=";
        if (!text.starts_with(before) || !text.ends_with('x')) {
            continue;
        }
        double at_most = 0;
        const char* const begin = text.data() + before.size();
        const char* const end = text.data() + text.size() - 1;
        const auto read = std::from_chars(begin, end, at_most);
        if (read.ec == std::errc{} && read.ptr == end && at_most >= 1 && at_most <= 100) {
            return Keep{metric, at_most};
        }
    }
    return refuse(fmt::format("takes cpu_time<=FACTORx or wall_time<=FACTORx with a factor of at least 1, as in "
                              "'cpu_time<=1.05x', not \"{}\"",
                              text),
                  "--keep");
}

base::Expected<void> read_budget(const std::string& text, AdviceQuestion& question)
{
    constexpr std::uint64_t least_runs = 6;
    if (text.empty()) {
        return {};
    }
    if (const auto runs = base::parse_number(text)) {
        if (*runs < least_runs || *runs > UINT32_MAX) {
            return refuse(fmt::format("takes at least {} runs: two to look at the program, three as it is, one with a "
                                      "setting",
                                      least_runs),
                          "--budget");
        }
        question.most_runs = static_cast<std::uint32_t>(*runs);
        return {};
    }
    const auto time = base::parse_duration(text);
    if (!time || time->count() <= 0) {
        return refuse(fmt::format("takes a time as in 15m, or a number of runs, not \"{}\"", text), "--budget");
    }
    question.budget = *time;
    return {};
}

base::Expected<AdviceQuestion> read_question(const AdviseCommand& command)
{
    AdviceQuestion question;
    const Want want = MEMSWEEP_TRY(read_want(command.want));
    const Keep keep = MEMSWEEP_TRY(read_keep(command.keep));
    MEMSWEEP_TRY(read_budget(command.budget, question));
    question.at = want.at;
    question.keep = keep.metric;
    question.at_most = keep.at_most;
    question.resume = command.resume;
    question.seed = command.overrides.seed.value_or(1);
    question.end = command.end;
    question.end.idle = want.idle;
    if (want.at == WantedAt::idle && question.end.sign == model::EndSign::exit) {
        return refuse("needs --end-when: a program that exits does not rest", "--want rss@idle");
    }
    return question;
}

std::vector<std::string> advice_formats()
{
    const auto names = reporters::format_names<reporters::AdviceReport>();
    return {names.begin(), names.end()};
}

base::Expected<void> check_advise(const AdviseCommand& command)
{
    if (command.words.empty()) {
        return refuse("give the program to advise on behind --", "command");
    }
    if (command.shell && command.words.size() != 1) {
        return refuse("takes one text behind --, a script of /bin/sh", "--shell");
    }
    for (const ReportTarget& target : command.reports) {
        MEMSWEEP_TRY(reporters::find_format<reporters::AdviceReport>(target.format));
        if (!command.resume.empty() && target.path == command.resume) {
            return refuse("is the file of a report, too", "--resume");
        }
    }
    MEMSWEEP_TRY(read_question(command));
    return {};
}

ExitCode code_of(const reporters::AdviceReport& report)
{
    switch (report.verdict) {
    case reporters::AdviceVerdict::predicted_only:
        return ExitCode::no_verdict;
    case reporters::AdviceVerdict::unsafe:
        return ExitCode::finding;
    case reporters::AdviceVerdict::change:
    case reporters::AdviceVerdict::change_nothing:
        break;
    }
    return ExitCode::done;
}

ExitCode write_all(const AdviseCommand& command, const reporters::AdviceReport& report, const GlobalOptions& global)
{
    ExitCode code = ExitCode::done;
    if (std::ranges::none_of(command.reports, is_stdout, &ReportTarget::path)) {
        code = write_text(reporters::to_terminal(report, terminal_style(global)), "-");
    }
    for (const ReportTarget& target : command.reports) {
        const auto format = reporters::find_format<reporters::AdviceReport>(target.format);
        code = worse(code, write_in(*format, report, target.path, global));  // check() has found it
    }
    return code;
}

base::Expected<ExitCode> execute(const AdviseCommand& command, const GlobalOptions& global)
{
    AdviceQuestion question = MEMSWEEP_TRY(read_question(command));
    const auto input = MEMSWEEP_TRY(ProgramInput::take(command.stdin_file));
    const model::Machine machine = this_machine();
    auto plan = scenarios::command_plan(command.words, {}, command.overrides, surroundings(machine), command.shell);
    if (!plan) {
        print_places(plan.error());
        return ExitCode::bad_input;
    }
    question.plan = *std::move(plan);
    model::CommandSpec& spec = *question.plan.cases.front().command();
    spec.input = input.path();
    spec.input_contents = input.contents();
    if (const std::string why = engine::missing_program(spec); !why.empty()) {
        return base::fail(base::ErrorCode::invalid_input, why);
    }
    const sys::StopSignals signals;
    auto report = advise_on(question, global, signals);
    if (!report) {
        print_error(report.error());
        const base::ErrorCode what = report.error().code;
        return what == base::ErrorCode::invalid_input || what == base::ErrorCode::io ? ExitCode::bad_input
                                                                                     : ExitCode::case_failed;
    }
    const ExitCode code = worse(write_all(command, *report, global), code_of(*report));
    return signals.arrived() ? worse(code, stop_code(signals)) : code;
}

}  // namespace

void add_advise(Command& root, const GlobalOptions& global)
{
    Command& command =
        root.command("advise", "Find the allocator and settings that a program should run with, proven by running it");
    auto& advise = arguments_of<AdviseCommand>(command, global, execute);
    command.positional("command CMD", value::command(advise.words), "The program and its arguments, behind --");
    command.group = "Question";
    command.option("--want METRIC@MOMENT",
                   value::offering(value::text(advise.want), {"rss@end", "rss@peak", "rss@idle=12s"}),
                   "What should become less: rss@end, resident memory when the work is done; rss@peak, its maximum; "
                   "rss@idle=12s, resident memory this long after the work");
    command.option("--keep LIMIT", value::offering(value::text(advise.keep), {"cpu_time<=1.05x", "wall_time<=1.05x"}),
                   "How much more time the program may take");
    command.option("--budget TIME|RUNS", value::text(advise.budget),
                   "Begin no run that would end after this time, as in 15m; or make at most so many runs (default 110; "
                   "15 if replays help)");
    command.option("--end-when SIGN", end_of_work(advise.end),
                   "When the work is done: exit (default); file:PATH (the program makes this file); line:REGEX (it "
                   "prints such a line); or signal (it sends SIGUSR1 to the pid in MEMSWEEP_PID). A program that is "
                   "still running 2 s later is asked to end");
    command.group = "Program";
    command.option("--timeout DURATION", value::duration(advise.overrides.timeout),
                   "Longest time of one run, as in 90s");
    command.option(
        "--stdin FILE", value::text(advise.stdin_file),
        "The program's standard input; each run reads it from its start (default: what is redirected into memsweep)");
    command.flag("--shell", advise.shell, "Run the text behind -- as a script of /bin/sh");
    command.option("--seed N", value::number(advise.overrides.seed, 0, UINT64_MAX),
                   "Seed of the random order within pairs of runs");
    command.group = "Output";
    command.option("--resume FILE", value::text(advise.resume),
                   "Store each run in FILE, and continue from the runs that it already holds; program, question and "
                   "machine must be the same");
    command.option("-r,--report FMT[=FILE]", value::offering(report_targets(advise.reports), advice_formats()),
                   "Also write text, json, html or md, to FILE or stdout (repeatable)");
    command.option("--json",
                   {.take = [&advise](const std::vector<std::string>&) -> base::Expected<void> {
                        advise.reports.push_back({"json", "-"});
                        return {};
                    },
                    .arity = Arity::flag},
                   "The same as -r json");
    command.footer =
        "The program runs as it is, and then with one setting after the other; the best setting is confirmed in pairs "
        "of runs. If runs take long, the program is recorded, the recording is replayed under each setting, and only "
        "the best settings are run. Exit codes: 0 advice, or nothing to change; 1 the program failed, or its output "
        "changed, under every setting tried; 2 "
        "wrong input; 3 the program fails as it is; 5 the budget ended before anything was proven.";
    command.check = [&advise] { return check_advise(advise); };
}

}  // namespace memsweep::app
