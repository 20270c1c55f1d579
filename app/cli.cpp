#include "app/cli.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/cli_probe.hpp"
#include "app/cli_recording.hpp"
#include "app/cli_replay.hpp"
#include "app/cli_traces.hpp"
#include "core/base/quantity.hpp"
#include "core/base/suggest.hpp"
#include "core/model/plan.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {
namespace {

// Texts as they come from the command line, before they are turned into values.
struct RawRun {
    std::vector<std::string> reports, axes, variables, tags;
    std::string timeout, max_memory, isolation, seed, detect;
};

std::pair<std::string, std::string> split_at_equals(const std::string& text, std::string_view flag)
{
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
        throw CLI::ValidationError(std::string{flag}, fmt::format("\"{}\" is not NAME=VALUE", text));
    }
    return {text.substr(0, at), text.substr(at + 1)};
}

template <typename T>
T value_or_throw(base::Expected<T> parsed, std::string_view flag)
{
    if (!parsed) {
        throw CLI::ValidationError(std::string{flag}, parsed.error().message);
    }
    return *std::move(parsed);
}

// CLI11 would read -1 as 2^64 - 1 and cut what is beyond 64 bits.
base::Expected<std::uint64_t> whole_number(const std::string& text)
{
    std::uint64_t value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a whole number below 2^64", text));
    }
    return value;
}

void finish_run(RunCommand& run, const RawRun& raw)
{
    for (const std::string& text : raw.reports) {
        const std::size_t at = text.find('=');
        run.reports.push_back({text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)});
    }
    for (const std::string& text : raw.axes) {
        run.overrides.axes.push_back(split_at_equals(text, "--axis"));
    }
    for (const std::string& text : raw.variables) {
        run.overrides.variables.push_back(split_at_equals(text, "--set"));
    }
    for (const std::string& text : raw.tags) {
        run.tags.insert(split_at_equals(text, "--tag"));
    }
    if (!raw.timeout.empty()) {
        run.overrides.timeout = value_or_throw(base::parse_duration(raw.timeout), "--timeout");
    }
    if (!raw.max_memory.empty()) {
        run.max_memory_bytes = value_or_throw(base::parse_size(raw.max_memory), "--max-memory");
    }
    if (!raw.detect.empty()) {
        run.overrides.detect = model::value_of<model::Detection>(raw.detect);
    }
    if (!raw.isolation.empty()) {
        run.overrides.isolation = model::value_of<model::Isolation>(raw.isolation);
    }
    if (!raw.seed.empty()) {
        run.overrides.seed = value_or_throw(whole_number(raw.seed), "--seed");
    }
    if (!run.gate.empty() && run.baseline.empty()) {
        throw CLI::ValidationError("--gate", "needs --baseline RESULT, the result to compare with");
    }
    if (run.resume && (run.out.empty() || run.out == "-")) {
        throw CLI::ValidationError("--resume", "needs -o FILE, the result to go on with");
    }
}

void add_run(CLI::App& app, RunCommand& run, RawRun& raw)
{
    app.add_option("scenario", run.scenarios,
                   "Scenario files, or names of the catalog (memsweep list scenarios); - is stdin")
        ->required()
        ->type_name("FILE");
    app.add_option(
           "-o,--out", run.out,
           "Result file (default results/<scenario>-<UTC>.json); %h host, %r rank, %s scenario, %t UTC; - is stdout")
        ->type_name("FILE");
    app.add_option("-r,--report", raw.reports,
                   "Also write this format (memsweep list formats), to FILE or stdout (repeatable)")
        ->type_name("FMT[=FILE]");
    app.add_option("-a,--axis", raw.axes,
                   "Replace an axis: size=[4KiB:1GiB:*4], mode=[refcount,leak], n=4 (repeatable)")
        ->type_name("NAME=VALUES");
    app.add_option("-s,--set", raw.variables, "Set a variable of the scenario (repeatable)")->type_name("VAR=VALUE");
    app.add_option("-k,--filter", run.filter, "Only cases whose id matches this regular expression")
        ->type_name("REGEX");
    app.add_option("-n,--repetitions", run.overrides.repetitions, "Measured repetitions of each case")
        ->type_name("N")
        ->check(CLI::Range(1U, 1'000'000U));
    app.add_option("--warmup", run.overrides.warmup, "Rounds run and discarded first")
        ->type_name("N")
        ->check(CLI::Range(0U, 1'000'000U));
    app.add_option("--seed", raw.seed, "Seed of shuffled orders")->type_name("N");
    app.add_option("--isolation", raw.isolation, "process: a fresh worker per repetition; none: all in one worker")
        ->check(CLI::IsMember({"process", "none"}))
        ->type_name("MODE");
    app.add_option("--timeout", raw.timeout, "Time allowed to one repetition, as in 90s")->type_name("DURATION");
    app.add_option("--max-memory", raw.max_memory,
                   "Refuse cases that would hold more (default 80 % of what the machine or its cgroup has left)")
        ->type_name("SIZE");
    app.add_option("--tag", raw.tags, "Record a tag in the result (repeatable)")->type_name("KEY=VALUE");
    app.add_option("--events", run.events, "Write events as NDJSON while they happen; - is stdout")->type_name("FILE");
    app.add_option("--baseline", run.baseline,
                   "Compare with this result of the same scenario and machine; a regression is exit code 1")
        ->type_name("RESULT");
    app.add_option("--gate", run.gate, "Judge the comparison by this gate file, or one that ships (memory)")
        ->type_name("FILE");
    app.add_flag("--resume", run.resume, "Go on with the result that -o names; its scenario must be the same");
    app.add_flag("--fail-fast", run.fail_fast, "Stop at the first case that is not ok or assertion that fails");
    app.add_flag("--dry-run", run.dry_run, "Print the cases, their memory and an estimate; measure nothing");
    app.add_option("--detect", raw.detect, "How a use of freed memory is noticed: off, null, flag, quarantine, unmap")
        ->check(CLI::IsMember(model::all_names<model::Detection>()))
        ->type_name("LEVEL");
    app.add_flag("--guard-pages", run.overrides.guard_pages, "End each array against an inaccessible page");
    app.add_flag("--ignore-manual-free", run.overrides.ignore_manual_free,
                 "Disregard manual frees: a collector frees all; the results must not change");
    app.add_flag("--quick", run.quick,
                 "1 repetition, no warm-up, no case above 64 MiB of arrays; assertions only warn");
}

// Texts of `compare` before they are turned into values.
struct RawCompare {
    std::vector<std::string> between, thresholds;
};

void finish_compare(CompareCommand& compare, const RawCompare& raw)
{
    for (const std::string& text : raw.between) {
        compare.between.push_back(split_at_equals(text, "--between"));
    }
    for (const std::string& text : raw.thresholds) {
        compare.thresholds.push_back(split_at_equals(text, "--threshold"));
    }
    if (!compare.between.empty() && compare.results.size() != 1) {
        throw CLI::ValidationError("--between", "compares the cases of one result; name exactly one");
    }
    if (compare.between.empty() && compare.results.size() < 2) {
        throw CLI::ValidationError("RESULT", "name a base and at least one candidate, or one result and --between");
    }
}

void add_compare(CLI::App& app, CompareCommand& compare, RawCompare& raw)
{
    app.add_option("result", compare.results, "The base, then its candidates; with --between one result; - is stdin")
        ->required()
        ->type_name("RESULT");
    app.add_option("--between", raw.between,
                   "Compare two case families of one result: mode=refcount mode=finalizer; the first is the base; two "
                   "phases of "
                   "each case too: phase=warm phase=cold")
        ->expected(2)
        ->type_name("AXIS=VALUE AXIS=VALUE");
    app.add_option("--metric", compare.metrics, "Only this metric (repeatable; memsweep list metrics)")
        ->allow_extra_args(false)
        ->type_name("METRIC");
    app.add_option("--threshold", raw.thresholds,
                   "How much a metric may change: wall_time=5%, working_set_peak=2%,1MiB (repeatable)")
        ->allow_extra_args(false)
        ->type_name("METRIC=PERCENT[,ABS]");
    app.add_option("--gate", compare.gate, "Take thresholds from a gate file, or one that ships (memory)")
        ->type_name("FILE");
    app.add_flag("--points", compare.points, "Also compare what named points measured, as POINT.METRIC");
    app.add_flag("--no-gate", compare.no_gate, "Show regressions, but exit with 0");
    app.add_flag("--only-changed", compare.only_changed, "Leave out what is the same or cannot be told");
    app.add_flag("--explain", compare.explain, "Say how each verdict came about, and what would have changed it");
    app.add_flag("--force", compare.force, "Compare different scenarios or machines all the same");
    app.add_option("-f,--format", compare.format, "text, md, json, junit or html")
        ->capture_default_str()
        ->type_name("FMT");
    app.add_option("-o,--out", compare.out, "Where to write (default stdout)")->type_name("FILE");
    app.footer("Exit codes: 0 no regression; 1 a metric regressed or a case began to fail; 2 unreadable, or not\n"
               "comparable; 5 no verdict: too few repetitions.");
}

std::string format_names()
{
    std::string names;
    for (const reporters::Format& format : reporters::formats()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    }
    return names;
}

void add_report(CLI::App& app, ReportCommand& report)
{
    app.add_option("result", report.results, "A result; or several, whose trends are shown; - is stdin")
        ->required()
        ->type_name("RESULT");
    app.add_option("-f,--format", report.format,
                   fmt::format("{} (memsweep list formats explains them)", format_names()))
        ->capture_default_str()
        ->type_name("FMT");
    app.add_option("-o,--out", report.out,
                   "Where to write (default stdout); csv and gha write a file per part beside it")
        ->type_name("FILE");
    app.add_flag("--check", report.check,
                 "Exit code 1 if a host of a fleet is bad (3: only missing), or something in a result does not hold");
    app.footer(
        "Several results of one scenario and machine make a history, in the order their runs were started: every\n"
        "metric from run to run, and where it changed its level. It is written as text, md, json, csv or html.");
}

void add_list(CLI::App& app, ListCommand& list)
{
    app.add_option("what", list.what, "scenarios, cases, metrics, ops, resources, disciplines, allocators, formats")
        ->required()
        ->check(CLI::IsMember(
            {"scenarios", "cases", "metrics", "ops", "resources", "disciplines", "allocators", "formats"}))
        ->type_name("WHAT");
    app.add_option("file", list.files, "Scenario files of `list cases`; the folder of `list scenarios`")
        ->type_name("FILE");
    app.add_flag("--json", list.json, "As JSON, with every key's type, unit, default and bounds");
}

void add_merge(CLI::App& app, MergeCommand& merge)
{
    app.add_option("result", merge.results,
                   "Results of one scenario on one kind of machine, or on many hosts; - is stdin")
        ->required()
        ->type_name("RESULT");
    app.add_option("-o,--out", merge.out, "Where to write the merged result; - is stdout")
        ->required()
        ->type_name("FILE");
    app.add_option("--expect", merge.expect,
                   "How many hosts should be there, or which: 128, or n[001-128]; who is missing is named: exit code 3")
        ->type_name("HOSTS");
    app.add_option("--tags", merge.tags, "A table of the hosts' tags, its first line as in: host,rack,switch")
        ->type_name("FILE");
    app.add_flag("--one-machine", merge.one_machine,
                 "Take different host names for one machine, as those of containers are");
    app.add_flag("--force", merge.force, "Merge different scenarios or machines all the same");
    app.footer("Results of several hosts make a fleet, which report and compare understand; what one host measured in\n"
               "parts makes one result. Exit codes: 0 merged; 2 unreadable, or not to be merged: other scenarios,\n"
               "machines or units, or a run that is given twice; 3 a host is missing.");
}

void add_doctor(CLI::App& app, DoctorCommand& doctor)
{
    app.add_flag("--json", doctor.json, "As JSON: every check with its status, value, reason and command");
    app.footer(
        "Exit codes: 0 nothing would spoil numbers; 1 something would, and the command that changes it is shown.");
}

// Texts of `cliffs` before they are turned into values.
struct RawCliffs {
    std::string from, to;
};

void finish_cliffs(CliffsCommand& cliffs, const RawCliffs& raw)
{
    if (!raw.from.empty()) {
        cliffs.range.from = value_or_throw(base::parse_size(raw.from), "--from");
    }
    if (!raw.to.empty()) {
        cliffs.range.to = value_or_throw(base::parse_size(raw.to), "--to");
    }
    if (cliffs.range.from == 0 || cliffs.range.from >= cliffs.range.to) {
        throw CLI::ValidationError("--from", "must be above 0 and below --to");
    }
}

void add_cliffs(CLI::App& app, CliffsCommand& cliffs, RawCliffs& raw)
{
    app.add_option("--on", cliffs.allocators,
                   "Allocators, with commas: glibc, jemalloc, mimalloc, tcmalloc, or paths of libraries")
        ->required()
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B");
    app.add_option("--from", raw.from, "Smallest size (default 64B)")->type_name("SIZE");
    app.add_option("--to", raw.to, "Largest size (default 64MiB)")->type_name("SIZE");
    app.add_flag("--no-verify", cliffs.no_verify, "Name the settings that should move a cliff without trying them");
    app.add_option("-f,--format", cliffs.format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FMT");
    app.add_option("-o,--out", cliffs.out, "Where to write (default stdout)")->type_name("FILE");
    app.footer("Each size is measured in a fresh process. Exit codes: 0 done; 2 an unknown allocator; 3 a measurement\n"
               "failed; 4 none of the allocators is installed.");
}

void add_completion(CLI::App& app, CompletionCommand& completion)
{
    app.add_option("shell", completion.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    app.footer("In bash: source <(memsweep completion bash). Installed packages bring the scripts along.");
}

const std::map<std::string, ColorMode> color_names{
    {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
const std::map<std::string, ProgressMode> progress_names{{"auto", ProgressMode::automatic},
                                                         {"bar", ProgressMode::bar},
                                                         {"plain", ProgressMode::plain},
                                                         {"json", ProgressMode::json},
                                                         {"none", ProgressMode::none}};

void add_global(CLI::App& app, GlobalOptions& global)
{
    app.add_option("--color", global.color, "auto, always or never")
        ->transform(CLI::CheckedTransformer(color_names))
        ->type_name("WHEN")
        ->envname("MEMSWEEP_COLOR");
    app.add_option("--progress", global.progress, "auto, bar, plain, json or none")
        ->transform(CLI::CheckedTransformer(progress_names))
        ->type_name("HOW")
        ->envname("MEMSWEEP_PROGRESS");
    app.add_flag("-q,--quiet", global.quiet, "Neither progress nor the terminal report");
    app.add_flag("-v,--verbose", global.verbose, "More detail in the terminal report");
}

ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv)
{
    std::string message = error.what();
    std::ranges::replace(message, '\n', ' ');
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
        names.push_back(sub->get_name());
    }
    const std::vector<std::string_view> known{names.begin(), names.end()};
    const bool command_given = argc > 1 && argv[1][0] != '-';
    if (command_given && std::ranges::find(known, std::string_view{argv[1]}) == known.end()) {
        message = fmt::format("unknown command \"{}\"{}", argv[1], base::suggestion(argv[1], known));
    } else {
        message += fmt::format("; see memsweep {}--help", command_given ? fmt::format("{} ", argv[1]) : "");
    }
    std::fprintf(stderr, "memsweep: error: %s\n", message.c_str());
    return ExitCode::bad_input;
}

}  // namespace

std::variant<Options, ExitCode> parse_command_line(int argc, const char* const* argv)
{
    CLI::App app{"Measures what a memory policy costs in time, working set, page faults and bandwidth, and why.",
                 "memsweep"};
    app.fallthrough();
    app.require_subcommand(0, 1);
    Options options;
    bool version = false;
    VersionCommand version_command;
    add_global(app, options.global);
    app.add_flag("-V,--version", version, "Print the version (--json: with commit, build and compiler)");
    app.add_flag("--json", version_command.json, "With --version: as JSON")->group("");

    RunCommand run;
    RawRun raw;
    CLI::App& run_app = *app.add_subcommand("run", "Run scenario files, print the report, write the result");
    add_run(run_app, run, raw);
    CompareCommand compare;
    RawCompare raw_compare;
    CLI::App& compare_app = *app.add_subcommand("compare", "Compare results, or two case families of one");
    add_compare(compare_app, compare, raw_compare);
    ReportCommand report;
    CLI::App& report_app = *app.add_subcommand("report", "Convert a result to another format");
    add_report(report_app, report);
    ValidateCommand validate;
    CLI::App& validate_app =
        *app.add_subcommand("validate", "Check scenario files and print every error with its place");
    validate_app.add_option("file", validate.files, "Scenario files; - is stdin")->required()->type_name("FILE");
    ListCommand list;
    CLI::App& list_app = *app.add_subcommand(
        "list", "List scenarios, cases, metrics, ops, resources, disciplines, allocators or formats");
    add_list(list_app, list);
    SchemaCommand schema;
    CLI::App& schema_app = *app.add_subcommand("schema", "Print a JSON Schema, for editors and for readers");
    schema_app
        .add_option("which", schema.which, "scenario, result, gates, comparison, history, limits, fleet or fleet-trend")
        ->required()
        ->check(
            CLI::IsMember({"scenario", "result", "gates", "comparison", "history", "limits", "fleet", "fleet-trend"}))
        ->type_name("WHICH");
    MergeCommand merge;
    CLI::App& merge_app =
        *app.add_subcommand("merge", "Join results of one scenario into one, or those of many hosts into a fleet");
    add_merge(merge_app, merge);
    DoctorCommand doctor;
    CLI::App& doctor_app = *app.add_subcommand("doctor", "Is this machine fit to measure on? What spoils numbers here");
    add_doctor(doctor_app, doctor);
    const TraceCommandLine traces{app};
    const ReplayCommandLine replay{app};
    const RecordingCommandLine recordings{app};
    CliffsCommand cliffs;
    RawCliffs raw_cliffs;
    CLI::App& cliffs_app =
        *app.add_subcommand("cliffs", "Find the sizes where an allocator's cost jumps, why, and what moves them");
    add_cliffs(cliffs_app, cliffs, raw_cliffs);
    const ProbeCommandLine probe{app};
    CompletionCommand completion;
    CLI::App& completion_app = *app.add_subcommand("completion", "Print the completion script of a shell");
    add_completion(completion_app, completion);
    ManCommand man;
    CLI::App& man_app = *app.add_subcommand("man", "Print the manual page, as the build installs it")->group("");
    man_app.add_option("--date", man.date)->required();
    WorkerCommand worker;
    CLI::App& worker_app = *app.add_subcommand("worker", "The process that cases run in")->group("");
    worker_app.add_option("fd", worker.channel_fd)->required();
    MallocCostCommand malloc_cost;
    CLI::App& malloc_cost_app = *app.add_subcommand("malloc-cost", "Measures one size for cliffs")->group("");
    malloc_cost_app.add_option("fd", malloc_cost.answer_fd)->required();
    malloc_cost_app.add_option("bytes", malloc_cost.bytes)->required();

    std::optional<Command> given_elsewhere;
    try {
        app.parse(argc, argv);
        given_elsewhere = traces.given();
        given_elsewhere = given_elsewhere ? given_elsewhere : replay.given();
        given_elsewhere = given_elsewhere ? given_elsewhere : recordings.given();
        if (auto probes = probe.given()) {
            given_elsewhere = *std::move(probes);
        }
        if (run_app.parsed()) {
            finish_run(run, raw);
        }
        if (compare_app.parsed()) {
            finish_compare(compare, raw_compare);
        }
        if (cliffs_app.parsed()) {
            finish_cliffs(cliffs, raw_cliffs);
        }
    } catch (const CLI::CallForHelp& help) {
        return static_cast<ExitCode>(app.exit(help));
    } catch (const CLI::ParseError& error) {
        return usage_error(app, error, argc, argv);
    }

    options.global.argv.assign(argv, argv + argc);
    if (version) {
        options.command = version_command;
    } else if (run_app.parsed()) {
        options.command = run;
    } else if (compare_app.parsed()) {
        options.command = compare;
    } else if (report_app.parsed()) {
        options.command = report;
    } else if (validate_app.parsed()) {
        options.command = validate;
    } else if (list_app.parsed()) {
        options.command = list;
    } else if (schema_app.parsed()) {
        options.command = schema;
    } else if (merge_app.parsed()) {
        options.command = merge;
    } else if (doctor_app.parsed()) {
        options.command = doctor;
    } else if (given_elsewhere) {
        options.command = *given_elsewhere;
    } else if (cliffs_app.parsed()) {
        options.command = cliffs;
    } else if (malloc_cost_app.parsed()) {
        options.command = malloc_cost;
    } else if (completion_app.parsed()) {
        completion.tree = describe(app);
        options.command = completion;
    } else if (man_app.parsed()) {
        man.tree = describe(app);
        options.command = man;
    } else if (worker_app.parsed()) {
        options.command = worker;
    } else {
        std::fputs(app.help().c_str(), stderr);
        return ExitCode::bad_input;
    }
    return options;
}

}  // namespace memsweep::app
