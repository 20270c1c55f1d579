#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/equal_names.hpp"
#include "app/commands/leaks.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/program_hints.hpp"
#include "app/commands/program_input.hpp"
#include "app/commands/project_file.hpp"
#include "app/commands/run_session.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/command_words.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/plan.hpp"
#include "core/sys/allocator_library.hpp"
#include "reporters/document/table.hpp"
#include "reporters/formats.hpp"
#include "scenarios/reader/command_plans.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

void add_output(Command& command, RunCommand& run)
{
    command.group = "Output";
    command.option(
        "-o,--out FILE", value::text(run.out),
        "Result file (default results/<scenario>-<UTC>.json); %h host, %r rank, %s scenario, %t UTC; - is stdout");
    command.option("-r,--report FMT[=FILE]",
                   value::offering(report_targets(run.reports), value::names_in(reporters::formats())),
                   "Also write this format (memsweep list formats), to FILE or stdout (repeatable)");
    command.option("--json",
                   {.take = [&run](const std::vector<std::string>&) -> base::Expected<void> {
                        run.reports.push_back({"json", "-"});
                        return {};
                    },
                    .arity = Arity::flag},
                   "The same as -r json");
    command.option("--tag KEY=VALUE", value::pairs(run.tags, "NAME=VALUE"), "Record a tag in the result (repeatable)");
    command.option("--events FILE", value::text(run.events), "Write events as NDJSON while they happen; - is stdout");
    command.option("--baseline RESULT", value::text(run.baseline),
                   "Compare with this result of the same scenario and machine; a regression is exit code 1");
    command
        .option("--gate FILE", value::text(run.gate),
                "Judge the comparison by this gate file, or one that ships (memory)")
        .look_up = shipped_gates;
    command.flag("--resume", run.resume,
                 "Continue the run whose result -o names, if that file exists; its scenario must be the same");
}

void add_cases(Command& command, RunCommand& run)
{
    command.group = "Cases";
    command.option("-a,--axis NAME=VALUES", value::pairs(run.overrides.axes, "NAME=VALUE"),
                   "Replace an axis: size=[4KiB:1GiB:*4], mode=[refcount,leak], n=4 (repeatable)");
    command.option("-s,--set VAR=VALUE",
                   value::pairs(run.overrides.variables, "NAME=VALUE; hyperfine's -s CMD is --setup CMD here"),
                   "Set a variable of the scenario (repeatable)");
    command.option("-k,--filter REGEX", value::text(run.filter), "Only cases whose id matches this regular expression");
    command.option("--max-memory SIZE", value::size(run.max_memory_bytes),
                   "Refuse cases that would hold more (default 80 % of what the machine or its cgroup has left)");
    command.flag("--dry-run", run.dry_run, "Print the cases, their memory and an estimate; measure nothing");
}

OptionValue repetitions(RunCommand& run)
{
    const auto read = [&run](const std::string& text) -> base::Expected<void> {
        auto number = value::whole_number(text, 1, 1'000'000);
        if (!number && text != "auto") {
            return refuse(number.error().message + "; hyperfine's -n NAME is --command-name NAME here");
        }
        if (run.is_automatic || run.overrides.repetitions) {
            return refuse("is given twice");
        }
        run.is_automatic = text == "auto";
        if (number) {
            run.overrides.repetitions = static_cast<std::uint32_t>(*number);
        }
        return {};
    };
    return value::offering(value::each(read, Arity::each_time), {"auto"});
}

void add_measuring(Command& command, RunCommand& run)
{
    scenarios::Overrides& overrides = run.overrides;
    command.group = "Measuring";
    command.option("-n,--repetitions,--runs N", repetitions(run),
                   "Measured repetitions of each case; auto, the default of --against: until its verdict is sure");
    command.option("-w,--warmup N", value::number(overrides.warmup, 0, 1'000'000), "Rounds to run and discard first");
    command.option("--seed N", value::number(overrides.seed, 0, UINT64_MAX), "Seed of shuffled orders");
    command.option("--isolation MODE", value::choice(overrides.isolation),
                   "process: a fresh worker per repetition; none: all in one worker");
    command.option(
        "--timeout DURATION", value::duration(overrides.timeout),
        "Time allowed to one repetition, as in 90s (default 60s in scenarios, 24h for programs on the command line)");
    command.option("--detect LEVEL", value::choice(overrides.detect),
                   "How a use of freed memory is detected: off, null, flag, quarantine, unmap");
    command.flag("--guard-pages", overrides.guard_pages, "End each array against an inaccessible page");
    command.flag("--ignore-manual-free", overrides.ignore_manual_free,
                 "Ignore manual frees: a collector frees everything instead; the results must not change");
    command.flag("--fail-fast", run.fail_fast,
                 "Stop at the first case that fails or the first assertion that does not hold");
    command.flag("--quick", run.quick,
                 "1 repetition, no warm-up, no case above 64 MiB of arrays; assertions only warn");
}

// Whether a word is the name of a shell, with its options: "bash --norc". A script ("bash x.sh") is not.
bool names_a_shell(std::string_view word)
{
    if (word == "none" || word == "default") {
        return true;
    }
    const auto words = base::command_words(word);
    if (!words || words->empty()) {
        return false;
    }
    static const std::set<std::string> shells{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"};
    return shells.contains(std::filesystem::path{words->front()}.filename().string()) &&
           std::all_of(std::next(words->begin()), words->end(),
                       [](const std::string& one) { return one.starts_with('-') && one != "-c"; });
}

// `--shell bash 'CMD'` is how hyperfine's users give it: a shell's name in front of a command is its text.
OptionValue shell_of(RunCommand& run)
{
    OptionValue given = value::any([&run](const std::string& text) {
        run.shell = text == "default";
        run.lines.shell_program = text == "default" ? "" : text;
    });
    given.takes_next = names_a_shell;
    return value::alone_meaning(std::move(given), "default");
}

void add_programs(Command& command, RunCommand& run)
{
    command.group = "Programs behind --";
    command.option("--stdout,--output WHERE", value::text(run.stdout_word),
                   "Where the programs' output goes: null, pipe (read and discarded), inherit, a file, or checksum: a "
                   "program that prints something else has failed");
    command.flag("--show-output", run.show_output, "The same as --stdout inherit");
    command.option("--stdin,--input FILE", value::text(run.stdin_file),
                   "The programs' standard input; each run reads it from its start. /dev/null: nothing; -: memsweep's "
                   "own, read to its end first (default: what is redirected into memsweep)");
    command.option("--end-when SIGN", end_of_work(run.end),
                   "Also measure the memory that is resident when the work is done (working_set_end). SIGN is exit; "
                   "file:PATH (the program makes this file); line:REGEX (it prints such a line); or signal (it sends "
                   "SIGUSR1 to the pid in MEMSWEEP_PID). A program that is still running 2 s later is asked to end");
    command.option("--shell [=bash|zsh]", shell_of(run),
                   "Run the text behind --, and that of --against, as a shell script; with a name, by that shell "
                   "(default /bin/sh)");
    command.flag("--count", run.count, "Count the programs' allocations, in extra repetitions; --against always does");
    command.option("--leaks NAME=VALUES", value::text(run.leaks),
                   "Look for leaks instead of measuring. The program runs several times for each number of operations, "
                   "which replaces ${NAME}: --leaks 'n=[10,20,40]' -- ./test '${n}'. Exit code 1 if memory that is "
                   "left grows with the number; the report names the call sites");
    command.option("--release-after N", value::number(run.release_after, 2, UINT64_MAX),
                   "With --leaks, for runtimes that free late: the runtime frees nothing in the first N operations, so "
                   "up to that number the peak is judged instead of the end");
}

void add_comparing(Command& command, RunCommand& run)
{
    command.group = "Comparing two programs";
    command.option("--against CMD", value::text(run.against),
                   "Compare the program with this command, the base: each round runs both in random order. A "
                   "regression is exit code 1. Without --shell, no shell reads CMD");
    command.flag(
        "--stacks", run.stacks,
        "After the rounds, record both with their call stacks, and name the call sites behind a change of allocations");
    command.flag("--duet", run.duet,
                 "Run both programs of a round at the same time, on two processors of one kind that are drawn for each "
                 "round, so that noise hits both alike");
    command.option("--budget DURATION", value::duration(run.budget),
                   "Begin no round that would end after this time, as in 10m");
    command.option("--threshold METRIC=PERCENT[,ABS]", value::pairs(run.thresholds, "NAME=VALUE", Arity::each_time),
                   "How much a metric may change: wall_time=5%, working_set_peak=2%,1MiB (repeatable)");
    command.flag("--strict-counters", run.strict_counters,
                 "With --against or --baseline: judge every change of an exact counter, even below 0.1 % and 4 KiB, "
                 "and even if names of another length explain it");
}

base::Expected<std::vector<std::string>> words_of(const std::string& text, bool shell)
{
    return shell ? std::vector{text} : base::command_words(text);
}

base::Expected<void> check_comparison(const RunCommand& run)
{
    if (!runs_programs(run) && (run.count || run.shell || !run.against.empty() || !run.stdout_word.empty() ||
                                !run.stdin_file.empty() || run.end.sign != model::EndSign::none)) {
        return refuse("goes with a program behind --", !run.against.empty()       ? "--against"
                                                       : !run.stdout_word.empty() ? "--stdout"
                                                       : !run.stdin_file.empty()  ? "--stdin"
                                                       : run.shell                ? "--shell"
                                                       : !run.count               ? "--end-when"
                                                                                  : "--count");
    }
    if (run.shell && run.texts.empty() && run.words.size() != 1) {
        return refuse("takes one text behind --, the script: put all of it into quotes", "--shell");
    }
    const std::set<std::string_view> read_by_us{"", model::output_discarded, model::output_piped,
                                                model::output_checksum};
    if (run.end.sign == model::EndSign::line && !read_by_us.contains(run.stdout_word)) {
        return refuse("looks for the line in what memsweep reads: --stdout null, pipe or checksum", "--end-when");
    }
    if (run.stacks && run.against.empty() && run.leaks.empty()) {
        return refuse("names the call sites in which two programs differ, and needs --against CMD; `memsweep record "
                      "--stacks -- CMD` records those of one",
                      "--stacks");
    }
    if (run.against.empty()) {
        const bool has_baseline = !run.baseline.empty() || (!run.baselines_folder.empty() && !runs_programs(run));
        if (run.is_automatic || run.budget || run.duet) {
            return refuse("needs --against CMD, the program to compare with", run.is_automatic ? "-n auto"
                                                                              : run.duet       ? "--duet"
                                                                                               : "--budget");
        }
        return run.thresholds.empty() || has_baseline
                   ? base::Expected<void>{}
                   : refuse("needs --against CMD or --baseline RESULT, what to compare with", "--threshold");
    }
    if (run.resume || run.quick || !run.baseline.empty()) {
        return refuse("rounds of two programs are not resumed, not --quick, and have no --baseline", "--against");
    }
    const std::set<std::string_view> one_for_all{"", model::output_discarded, model::output_inherited,
                                                 model::output_piped, model::output_checksum};
    if (run.duet && !one_for_all.contains(run.stdout_word)) {
        return refuse("both programs of --duet would write this file at the same time; null, pipe, inherit or checksum",
                      "--stdout");
    }
    if (auto words = words_of(run.against, run.shell); !words) {
        return refuse(words.error().message, "--against");
    }
    return {};
}

base::Expected<void> check(const RunCommand& run)
{
    MEMSWEEP_TRY(check_leaks(run));
    MEMSWEEP_TRY(check_comparison(run));
    if (run.scenarios.empty() != runs_programs(run)) {
        return !runs_programs(run) ? refuse("scenario is required, or a program and its arguments behind --", "run")
                                   : refuse("a run is of scenario files or of a program behind --, not of both", "--");
    }
    if (((!run.gate.empty() && run.baselines_folder.empty()) || run.strict_counters) && run.baseline.empty() &&
        run.against.empty()) {
        return refuse("needs --baseline RESULT or --against CMD, what to compare with",
                      run.strict_counters ? "--strict-counters" : "--gate");
    }
    if (run.resume && (run.out.empty() || run.out == "-")) {
        return refuse("needs -o FILE, the result to go on with", "--resume");
    }
    return {};
}

constexpr std::uint32_t quick_repetitions = 1;
constexpr std::uint32_t most_rounds = 100;  // where that is not sure, noise hides it

scenarios::Overrides effective_overrides(const RunCommand& command)
{
    scenarios::Overrides overrides = command.overrides;
    if (!command.against.empty()) {
        overrides.repetitions = overrides.repetitions.value_or(most_rounds);
    }
    if (command.quick) {
        overrides.repetitions = overrides.repetitions.value_or(quick_repetitions);
        overrides.warmup = overrides.warmup.value_or(0);
    }
    if (!overrides.repetitions && (command.lines.min_runs || command.lines.max_runs)) {
        constexpr std::uint32_t usual = 10;
        overrides.repetitions =
            std::min(std::max(usual, command.lines.min_runs.value_or(1)),
                     std::max(command.lines.max_runs.value_or(UINT32_MAX), command.lines.min_runs.value_or(1)));
    }
    return overrides;
}

// Quick runs never gate: a single cold repetition may miss any threshold.
void only_warn(std::vector<model::Plan>& plans)
{
    for (model::Plan& plan : plans) {
        for (model::Assertion& assertion : plan.assertions) {
            assertion.severity = model::Severity::warn;
            assertion.abort = false;
        }
    }
}

// Results of one name would be written over each other. What several scenarios would write one after another must
// carry the scenario's name.
base::Expected<void> check_names(const RunCommand& command, const std::vector<model::Plan>& plans)
{
    const auto names_one_file = [](const std::string& path) {
        return !path.empty() && path != "-" && path.find("%s") == std::string::npos;
    };
    const bool shared =
        command.scenarios.size() > 1 &&
        (names_one_file(command.baseline) || (!command.out.empty() && command.out.find("%s") == std::string::npos) ||
         std::ranges::any_of(command.reports, names_one_file, &ReportTarget::path));
    if (shared) {
        return refuse(
            "several scenarios need %s in the names of their results, reports and baselines, as in results/%s.json",
            "--out, --report, --baseline");
    }
    std::set<std::string_view> names;
    for (const model::Plan& plan : plans) {
        if (!names.insert(plan.name).second) {
            return refuse(
                fmt::format("two scenarios are named \"{}\"; run them one by one, each with its own -o", plan.name),
                plan.path);
        }
    }
    return {};
}

scenarios::Loaded command_plan(const RunCommand& command, const scenarios::Surroundings& surroundings)
{
    if (!command.texts.empty()) {
        return plan_of_commands(command, effective_overrides(command), surroundings);
    }
    const std::string description = reporters::command_line(command.words);
    if (command.against.empty()) {
        scenarios::Loaded plan = scenarios::command_plan(command.words, description, effective_overrides(command),
                                                         surroundings, command.shell);
        if (plan) {
            put_in_parameters(command.lines, *plan);
        }
        if (plan && !command.lines.names.empty()) {
            name_the_command(command.lines.names.front(), *plan);
        }
        return plan;
    }
    return scenarios::build_comparison_plan(words_of(command.against, command.shell).value(), command.words,
                                            fmt::format("{} against {}", description, command.against),
                                            effective_overrides(command), surroundings, command.shell);
}

LoadedPlans load(const RunCommand& command, const model::Machine& machine)
{
    if (!runs_programs(command)) {
        return load_plans(command.scenarios, effective_overrides(command), machine);
    }
    LoadedPlans loaded;
    auto plan = command_plan(command, surroundings(machine));
    if (plan) {
        constexpr std::chrono::hours nobody_knows{24};  // a scenario's default is meant for steps
        plan->settings.timeout = command.overrides.timeout.value_or(nobody_knows);
        loaded.plans.push_back(*std::move(plan));
    } else {
        loaded.errors = std::move(plan.error());
    }
    return loaded;
}

std::string why_not_started(const model::CommandSpec& command)
{
    if (std::string why = engine::missing_program(command); !why.empty()) {
        return why + program_hint(command.run, "run");
    }
    const bool is_script = !command.shell && command.prepare.empty() && !command.run.empty();
    const bool has_path = is_script && command.run.front().find('/') != std::string::npos && command.cwd.empty();
    return !is_script ? ""
                      : missing_interpreter(has_path ? command.run.front() : sys::find_program(command.run.front()));
}

// Before anything is measured: every program must be there.
std::vector<base::Error> missing_programs(const std::vector<model::Plan>& plans, const IdMatcher& wanted)
{
    std::vector<base::Error> errors;
    std::set<std::string> seen;
    for (const model::Plan& plan : plans) {
        for (const model::Case& one : plan.cases) {
            std::string why = one.command() && wanted(one.id) ? why_not_started(*one.command()) : "";
            if (!why.empty() && seen.insert(why).second) {
                errors.push_back({base::ErrorCode::invalid_input, std::move(why), plan.path});
            }
        }
    }
    return errors;
}

// What the command line says of programs behind --, and a scenario of its own.
void set_up_programs(const RunCommand& command, std::vector<model::Plan>& plans)
{
    if (!runs_programs(command)) {
        return;
    }
    for (model::Case& one : plans.front().cases) {
        one.command()->output = command.stdout_word.empty() ? one.command()->output : command.stdout_word;
        one.command()->count = command.count || !command.against.empty();
        one.command()->end = command.end;
    }
    if (command.end.sign != model::EndSign::none) {
        plans.front().settings.headline.emplace_back(model::metrics::working_set_end);
        scenarios::take_fingerprints(plans.front());
    }
}

// What programs behind -- read, which is good for as long as the result lives; scenarios name it themselves.
base::Expected<std::optional<ProgramInput>> take_input(const RunCommand& command, std::vector<model::Plan>& plans)
{
    if (command.dry_run) {
        return std::optional<ProgramInput>{};
    }
    if (!runs_programs(command)) {
        look_into_inputs(plans);
        const bool reads_nothing = std::ranges::any_of(plans, [](const model::Plan& plan) {
            return std::ranges::any_of(
                plan.cases, [](const model::Case& one) { return one.command() && one.command()->input.empty(); });
        });
        const bool is_scenario = std::ranges::find(command.scenarios, "-") != command.scenarios.end();
        if (reads_nothing && !is_scenario && has_unread_input()) {
            print_note("standard input is not read: the command of a scenario reads the file that its \"stdin\" names");
        }
        return std::optional<ProgramInput>{};
    }
    std::optional<ProgramInput> input = MEMSWEEP_TRY(ProgramInput::take(command.stdin_file));
    if (!input->path().empty()) {
        scenarios::give_input(plans.front(), input->path(), input->contents());
    }
    return input;
}

base::Expected<ExitCode> execute(const RunCommand& command, const GlobalOptions& global)
{
    const model::Machine machine = this_machine();
    if (!command.leaks.empty()) {
        return look_for_leaks(command, global, machine);
    }
    LoadedPlans loaded = load(command, machine);
    if (!loaded.errors.empty()) {
        print_places(loaded.errors);
        return ExitCode::bad_input;
    }
    MEMSWEEP_TRY(check_names(command, loaded.plans));
    if (runs_programs(command)) {
        surround(command.lines, loaded.plans.front());
    }
    if (const std::string word = command.shell ? "" : base::shell_operator(command.words); !word.empty()) {
        print_note(fmt::format("no shell reads what stands behind --: the program gets the word {} itself; --shell "
                               "takes a script",
                               word));
    }
    const IdMatcher wanted = MEMSWEEP_TRY(id_matcher(command.filter));
    if (const auto missing = missing_programs(loaded.plans, wanted); !missing.empty() && !command.dry_run) {
        print_places(missing);
        return ExitCode::bad_input;
    }
    const auto input = MEMSWEEP_TRY(take_input(command, loaded.plans));
    set_up_programs(command, loaded.plans);
    for (model::Plan& plan : loaded.plans) {
        std::erase_if(plan.cases, [&](const model::Case& one) { return !wanted(one.id); });
    }
    if (command.quick) {
        only_warn(loaded.plans);
    }
    std::ranges::for_each(loaded.plans, call_builds_alike);
    return run_plans(command, global, machine, loaded.plans);
}

}  // namespace

void add_run(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("run", "Run scenario files, print the report, write the result");
    auto& run = arguments_of<RunCommand>(command, global, execute);
    command
        .optional_positional(
            "scenario FILE", value::texts(run.scenarios),
            "Scenario files, or names of the catalog (memsweep list scenarios); - is stdin. Or programs, "
            "each with its arguments in quotes: 'sort big.txt' 'sort -u big.txt'")
        .look_up = shipped_scenarios;
    command.words_behind_dashes("command CMD", value::command(run.words),
                                "A program and its arguments to measure in place of a scenario, behind --");
    add_output(command, run);
    add_cases(command, run);
    add_measuring(command, run);
    add_programs(command, run);
    add_command_lines(command, run);
    add_comparing(command, run);
    command.check = [&run]() -> base::Expected<void> {
        MEMSWEEP_TRY(take_command_lines(run));
        if (const auto project = MEMSWEEP_TRY(find_project_file())) {
            apply(*project, run);
        }
        run.stdout_word = run.show_output && run.stdout_word.empty() ? model::output_inherited : run.stdout_word;
        run.is_automatic = run.is_automatic || (!run.against.empty() && !run.overrides.repetitions);
        return check(run);
    };
}

}  // namespace memsweep::app
