#include "app/commands/run_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/comparing.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/result_journal.hpp"
#include "app/commands/run_observers.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/site_comparison.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/traces.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/engine/calibration.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/engine/judgement.hpp"
#include "core/engine/runner.hpp"
#include "core/engine/steps/worker.hpp"
#include "core/engine/steps/worker_executor.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/paired_comparison.hpp"
#include "core/measure/recorded_comparison.hpp"
#include "core/model/case_index.hpp"
#include "core/schedule/paired_rounds.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/output_file.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/processor_pair.hpp"
#include "core/sys/signals.hpp"
#include "core/sys/topology.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/formats.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

// The two programs of --against, as values of their axis.
schedule::PairedRounds::Pair builds(const measure::Criteria& criteria)
{
    const auto build = [](std::string_view value) {
        return model::RatioOf{std::string{scenarios::build_axis}, std::string{value}};
    };
    return {build(scenarios::base_build), build(scenarios::candidate_build), criteria};
}

constexpr std::uint64_t typical_result_bytes = 1ULL << 20;
constexpr std::uint64_t quick_array_limit_bytes = 64ULL << 20;

std::map<std::string, std::string> recorded_overrides(const scenarios::Overrides& overrides)
{
    std::map<std::string, std::string> recorded;
    for (const auto& [name, values] : overrides.axes) {
        recorded["axis." + name] = values;
    }
    if (overrides.detect) {
        recorded["--detect"] = model::name_of(*overrides.detect);
    }
    if (overrides.guard_pages) {
        recorded["--guard-pages"] = "true";
    }
    if (overrides.ignore_manual_free) {
        recorded["--ignore-manual-free"] = "true";
    }
    for (const auto& [name, value] : overrides.variables) {
        recorded["variable." + name] = value;
    }
    return recorded;
}

// Never more than there is: a case that insists on more must be the one that is stalled or killed, not the driver.
void warm_memory(std::uint64_t bytes)
{
    const std::uint64_t available = sys::available_memory();  // 0: not known
    static_cast<void>(sys::prefault_machine_memory(available == 0 ? bytes : std::min(bytes, available / 4 * 3)));
}

base::Expected<std::vector<std::uint32_t>> duet_processors()
{
    const sys::Topology topology = MEMSWEEP_TRY(sys::load_topology());
    if (!topology.is_this_machine) {
        return refuse("HWLOC_XMLFILE or HWLOC_SYNTHETIC describes another machine; measure without them", "--duet");
    }
    const auto pair = sys::two_of_one_kind(topology);
    if (!pair) {
        return refuse("needs two processors of one kind that this process may run on; allow it more (taskset, cpuset), "
                      "or measure in turns, without it",
                      "--duet");
    }
    return std::vector{pair->first, pair->second};
}

// `repeats_enough`: that there are few repetitions needs no telling.
void add_warnings(model::RunReport& report, bool repeats_enough)
{
    if (auto warning = model::build_warning(report.tool)) {
        report.warnings.push_back(*std::move(warning));
    }
    for (const model::CaseReport& one : report.cases) {
        if (auto warning = measure::profile_warning(one)) {
            report.warnings.push_back(*std::move(warning));
        }
        std::ranges::move(measure::counting_warnings(one), std::back_inserter(report.warnings));
        std::ranges::copy_if(
            measure::noise_warnings(one), std::back_inserter(report.warnings),
            [repeats_enough](const std::string& code) { return !repeats_enough || code != "few-repetitions"; },
            &model::Warning::code);
    }
}

// A file that a scenario names is in no fingerprint; what a case has read of it stands in its facts.
base::Expected<void> check_inputs(const std::string& path, const model::Plan& plan, const model::RunReport& resumed)
{
    const model::CaseIndex index{resumed.cases};
    for (const model::Case& one : plan.cases) {
        const auto position = index.position(one.id);
        const model::Scalar* const read =
            position ? model::find_value(resumed.cases[*position].facts, "input") : nullptr;
        const std::string contents = one.command() ? one.command()->input_contents : "";
        if (read != nullptr && !contents.empty() && model::to_text(*read) != contents) {
            return refuse(fmt::format("{} has read {} there, and would read {} now; run without --resume, or with "
                                      "another -o",
                                      one.id, model::to_text(*read), contents),
                          path);
        }
    }
    return {};
}

// The earlier run's own file, or what a younger run that was cut off left beside it; and the repetitions in its
// journal.
base::Expected<void> take_over_earlier(const std::string& path, const model::Plan& plan, model::RunReport& report)
{
    auto earlier = read_result(path);
    auto partial = read_result(RunObservers::partial_path(path));
    const bool partial_fits = partial && partial->run.scenario_fingerprint == plan.fingerprint;
    if (partial_fits && (!earlier || partial->run.started >= earlier->run.started)) {
        earlier = std::move(partial);
    }
    std::error_code ignored;
    if (!earlier && !std::filesystem::exists(path, ignored)) {
        print_note(fmt::format("--resume: there is no {} to go on with: from the start", path));
        return {};
    }
    model::RunReport resumed = MEMSWEEP_TRY(std::move(earlier));
    if (resumed.run.scenario_fingerprint != plan.fingerprint) {
        return refuse(
            fmt::format(
                "was measured with another scenario (fingerprint {:.12} there, {:.12} here); run without --resume, "
                "or with another -o",
                resumed.run.scenario_fingerprint, plan.fingerprint),
            path);
    }
    MEMSWEEP_TRY(check_inputs(path, plan, resumed));
    report.cases = std::move(resumed.cases);
    report.run.id = resumed.run.id;
    report.run.started = resumed.run.started;
    take_over_journal(path, report);
    take_over_journal(RunObservers::partial_path(path), report);
    return {};
}

ExitCode exit_code_of(const model::RunReport& report)
{
    const model::StatusCounts counts = model::count(report);
    ExitCode code = counts.errors + counts.timeouts != 0 ? ExitCode::case_failed : ExitCode::done;
    const auto has_defects = [](const model::CaseReport& one) { return !one.defects.empty(); };
    if (counts.failed != 0 || counts.assertions_failed != 0 || std::ranges::any_of(report.cases, has_defects)) {
        code = worse(code, ExitCode::finding);
    }
    const bool measured =
        std::ranges::any_of(report.cases, [](const model::CaseReport& one) { return one.repetitions != 0; });
    return measured ? code : worse(code, ExitCode::nothing_measured);
}

// Stop signals are held for its life, so that an interruption between two cases is not lost.
class RunSession {
  public:
    RunSession(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
               const engine::Capabilities& capabilities, std::uint64_t budget_bytes)
        : command_{command}, global_{global}, machine_{machine}, capabilities_{capabilities},
          budget_bytes_{budget_bytes}
    {
    }

    base::Expected<ExitCode> run(const model::Plan& plan)
    {
        model::RunReport report = new_report(plan);
        if (command_.duet) {
            report.run.duet_processors = MEMSWEEP_TRY(duet_processors());
        }
        const std::vector<ReportTarget> targets = MEMSWEEP_TRY(expanded_targets(report));
        std::optional<Baseline> baseline;
        const std::string named_baseline = baseline_of(plan);
        if (!named_baseline.empty()) {
            auto criteria = gate_criteria(command_.gate, thresholds());
            if (!criteria) {
                return ExitCode::bad_input;
            }
            criteria->strict_counters = command_.strict_counters;
            const std::string earlier = MEMSWEEP_TRY(expanded(named_baseline, report));
            baseline = MEMSWEEP_TRY(Baseline::open(earlier, report, plan, *std::move(criteria)));
        }
        std::optional<measure::Criteria> criteria;
        if (!command_.against.empty()) {
            criteria = gate_criteria(command_.gate, thresholds());
            if (!criteria) {
                return ExitCode::bad_input;
            }
            criteria->strict_counters = command_.strict_counters;
            const schedule::PairedRounds::Pair pair = builds(*criteria);
            report.run.overrides.merge(measure::record_comparison(pair.base, pair.candidate, *criteria));
        }
        const std::string path = MEMSWEEP_TRY(result_path(report));
        MEMSWEEP_TRY(check_files(plan, path, targets));
        if (command_.resume) {
            MEMSWEEP_TRY(take_over_earlier(path, plan, report));
        }
        const auto observers =
            MEMSWEEP_TRY(RunObservers::make(path, command_.out.empty(), command_.events,
                                            std::exchange(events_begun_, true), announcement(plan), global_, clock_));
        const bool interrupted = measure(plan, criteria, *observers, report);

        std::optional<measure::Comparison> comparison;
        ExitCode code = ExitCode::done;
        if (interrupted) {
            code = stop_code(signals_);
        } else {
            code = worse(exit_code_of(report), baseline ? compare(*baseline, report, comparison) : ExitCode::done);
            if (command_.stacks) {
                if (!global_.quiet) {
                    print_note("call sites: both programs are recorded with their stacks");
                }
                report.sites = compare_call_sites(plan, report, recorder_library(), signals_);
                std::ranges::move(site_warnings(report.sites), std::back_inserter(report.warnings));
            }
            code = worse(code, criteria ? compare_both(report, *criteria, comparison) : ExitCode::done);
            code = command_.stacks && signals_.arrived() ? stop_code(signals_) : code;
        }
        const std::span<const measure::Comparison> compared{comparison ? &*comparison : nullptr, comparison ? 1U : 0U};
        note_unjudged(command_.thresholds, compared);
        report.run.exit_code = static_cast<int>(code);
        const std::optional<std::string> saved = observers->finish(report);
        if (!saved || observers->events_failed()) {
            code = worse(code, ExitCode::bad_input);
        }
        std::optional<reporters::ComparisonReport> against;
        if (baseline && comparison) {
            against = {.tool = report.tool, .comparisons = {*comparison}, .gate = !command_.quick, .only_judged = true};
        }
        code = worse(code, write_reports(report, targets, against));
        code = worse(code, show(report, targets, path));
        if (comparison) {
            code = worse(code, write_comparison(*comparison, targets, path));
        }
        const bool is_forgotten = saved && is_passing(report) && !interrupted && code != ExitCode::bad_input;
        if (is_forgotten) {
            ::unlink(saved->c_str());
        } else if (saved && *saved != "-") {
            print_note(fmt::format("result: {}", *saved));
        }
        return signals_.pending() ? worse(code, stop_code(signals_)) : code;  // one that ended the wait for a reader
    }

  private:
    [[nodiscard]] model::RunReport new_report(const model::Plan& plan) const
    {
        model::RunReport report = app::new_report(machine_, global_.argv, command_.tags);
        report.run.order = plan.settings.order;
        report.run.seed = plan.settings.seed;
        report.run.isolation = plan.settings.isolation;
        report.run.scenario_name = plan.name;
        report.run.scenario_description = plan.description;
        report.run.headline = plan.settings.headline;
        report.run.scenario_path = plan.path;
        report.run.scenario_sha256 = plan.sha256;
        report.run.scenario_fingerprint = plan.fingerprint;
        report.run.overrides = recorded_overrides(command_.overrides);
        return report;
    }

    [[nodiscard]] Announcement announcement(const model::Plan& plan) const
    {
        Announcement said{.until_sure = command_.is_automatic};
        const ExpectedTime expected = expected_time(plan, budget_bytes_);
        if (command_.budget) {
            said.time = fmt::format("at most {}", base::format_duration(sys::seconds_of(*command_.budget)));
        } else if (expected.seconds > 0) {
            said.time =
                fmt::format("{} {}", expected.is_open ? "at least" : "about", base::format_duration(expected.seconds));
        } else {
            said.time = "how long is known when each has run once";
        }
        return said;
    }

    [[nodiscard]] base::Expected<std::string> expanded(const std::string& pattern, const model::RunReport& report) const
    {
        return expand_path(pattern, {machine_.host, report.run.scenario_name, report.run.started});
    }

    [[nodiscard]] std::map<std::string, std::string> thresholds() const
    {
        std::map<std::string, std::string> all = command_.thresholds;
        all.insert(command_.project_thresholds.begin(), command_.project_thresholds.end());
        return all;
    }

    // The one that was named, or else that of the project, if it has one for this scenario.
    [[nodiscard]] std::string baseline_of(const model::Plan& plan) const
    {
        if (!command_.baseline.empty() || command_.baselines_folder.empty() || plan.path.empty() || command_.quick) {
            return command_.baseline;
        }
        std::error_code ignored;
        std::string path = fmt::format("{}/{}.json", command_.baselines_folder, plan.name);
        return std::filesystem::exists(path, ignored) ? path : std::string{};
    }

    // Programs whose result nobody asked for: what was measured is shown, and kept in a file only until then.
    [[nodiscard]] bool is_passing(const model::RunReport& report) const
    {
        return runs_programs(command_) && command_.out.empty() && command_.results_folder.empty() && !global_.quiet &&
               report.run.placement->ranks.value_or(1) <= 1;
    }

    static std::string passing_pattern()
    {
        const char* const folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing sets variables
        return fmt::format("{}/memsweep-%s-%t-{}.json", folder == nullptr || *folder == 0 ? "/tmp" : folder,
                           ::getpid());
    }

    [[nodiscard]] base::Expected<std::string> result_path(const model::RunReport& report) const
    {
        const model::LaunchPlace& placement = *report.run.placement;
        const bool among_ranks = placement.ranks.value_or(1) > 1;
        const std::string usual =
            fmt::format("{}/{}", command_.results_folder.empty() ? "results" : command_.results_folder,
                        among_ranks ? "%s-%t-%h-%r.json" : "%s-%t.json");
        const std::string pattern = is_passing(report)     ? passing_pattern()
                                    : command_.out.empty() ? usual
                                                           : command_.out;
        if (auto shared = shared_path(pattern, placement)) {
            return base::fail(*std::move(shared));
        }
        std::string path = pattern == "-" ? pattern : MEMSWEEP_TRY(expanded(pattern, report));
        if (path == "-") {
            return path;
        }
        if (auto writable = sys::check_writable(path, typical_result_bytes); !writable) {
            base::Error error = writable.error();
            error.message += command_.out.empty() ? "; -o FILE writes the result elsewhere" : "";
            return base::fail(std::move(error));
        }
        return path;
    }

    // The reports asked for, their paths expanded as the result's, and each proven writable before anything is
    // measured.
    [[nodiscard]] base::Expected<std::vector<ReportTarget>> expanded_targets(const model::RunReport& report) const
    {
        std::vector<ReportTarget> targets = command_.reports;
        for (ReportTarget& target : targets) {
            if (!is_stdout(target.path)) {
                target.path = MEMSWEEP_TRY(expanded(target.path, report));
            }
            MEMSWEEP_TRY(check_target(target));
        }
        return targets;
    }

    // Before anything is measured: what is written must not be written over, nor over what is read.
    [[nodiscard]] base::Expected<void> check_files(const model::Plan& plan, const std::string& path,
                                                   const std::vector<ReportTarget>& targets) const
    {
        std::vector<NamedFile> outputs{{"--out", path}, {"--events", command_.events}};
        for (const ReportTarget& target : targets) {
            std::ranges::move(files_of(target), std::back_inserter(outputs));
        }
        std::vector<NamedFile> inputs{
            {"what is run", plan.path}};  // a baseline may be renewed by what is held against it
        for (const std::string& scenario : command_.scenarios) {
            inputs.push_back({"what is run", scenario_path(scenario)});
        }
        return check_distinct(outputs, inputs);
    }

    [[nodiscard]] std::unique_ptr<engine::Executor> make_executor(const model::Plan& plan,
                                                                  const std::vector<std::uint32_t>& processors,
                                                                  model::Calibration& calibration) const
    {
        if (model::runs_commands(plan)) {
            return std::make_unique<engine::CommandExecutor>(clock_, signals_, recorder_library(), processors);
        }
        const bool concatenates = std::ranges::any_of(
            plan.cases, [](const model::Case& one) { return model::timed_call_count(one.steps()) != 0; });
        const array::StreamingSizes streaming =
            concatenates ? engine::calibrate_streaming(clock_, calibration) : array::streams_from();
        return std::make_unique<engine::WorkerExecutor>(
            engine::WorkerExecutor::Options{{"/proc/self/exe", "worker"}, plan.settings.isolation, streaming}, clock_,
            signals_);
    }

    // Returns whether it was interrupted. With `criteria` two builds are compared in rounds.
    bool measure(const model::Plan& plan, const std::optional<measure::Criteria>& criteria, RunObservers& observers,
                 model::RunReport& report) const
    {
        const std::vector<std::uint32_t>& processors = report.run.duet_processors;
        const std::unique_ptr<engine::Executor> executor = make_executor(plan, processors, report.calibration);
        engine::calibrate_harness(plan, *executor, clock_, report.calibration);
        engine::RunOptions options{.memory_budget_bytes = budget_bytes_};
        options.array_limit_bytes = command_.quick ? quick_array_limit_bytes : 0;
        options.prefault = warm_memory;
        options.note_pace = engine::pace_noter(clock_);
        options.ends_run = [&](const model::CaseReport& ended) {
            return engine::ends_run(plan.assertions, command_.fail_fast, ended);
        };
        schedule::Rounds rounds =
            processors.empty() ? schedule::Rounds{plan} : schedule::Rounds{plan, scenarios::build_axis};
        std::optional<schedule::PairedRounds> pairs;
        if (criteria) {
            pairs.emplace(rounds, builds(*criteria),
                          schedule::PairedRounds::Limits{command_.is_automatic, command_.budget}, clock_);
        }
        schedule::Schedule& schedule = pairs ? static_cast<schedule::Schedule&>(*pairs) : rounds;
        engine::Runner runner{plan, schedule, *executor, observers, clock_, capabilities_, options, report};
        runner.run();
        engine::judge_cases(plan.assertions, report);
        report.calibration.harness_seconds_per_run = measure::start_price(report);
        // A quick run repeats nothing on purpose, and a scenario that ships as often as what it shows needs.
        add_warnings(report, command_.quick || (!command_.overrides.repetitions && is_shipped_scenario(plan.path)));
        std::ranges::move(warnings_of_traces(plan), std::back_inserter(report.warnings));
        if (pairs) {
            std::ranges::move(pairs->warnings(), std::back_inserter(report.warnings));
        }
        report.run.ended = sys::utc_now();
        report.run.interrupted = runner.interrupted();
        return runner.interrupted();
    }

    // A quick run is compared, but never gates.
    ExitCode compare(const Baseline& baseline, const model::RunReport& report,
                     std::optional<measure::Comparison>& comparison) const
    {
        auto compared = baseline.compare(report);
        if (!compared) {
            print_error(compared.error());
            return ExitCode::bad_input;
        }
        comparison = *std::move(compared);
        return command_.quick ? ExitCode::done : app::exit_code_of(*comparison, true);
    }

    // The two programs of --against. Where nothing of one was measured, its error is the exit code.
    static ExitCode compare_both(const model::RunReport& report, const measure::Criteria& criteria,
                                 std::optional<measure::Comparison>& comparison)
    {
        const schedule::PairedRounds::Pair pair = builds(criteria);
        auto compared = measure::compare_rounds(report, pair.base, pair.candidate, criteria);
        if (!compared) {
            print_error(compared.error());
            return ExitCode::no_verdict;
        }
        comparison = *std::move(compared);
        return app::exit_code_of(*comparison, true);
    }

    [[nodiscard]] bool is_stdout_taken(const std::vector<ReportTarget>& targets, const std::string& path) const
    {
        return path == "-" || command_.events == "-" || std::ranges::any_of(targets, is_stdout, &ReportTarget::path);
    }

    [[nodiscard]] reporters::ComparisonReport document_of(const measure::Comparison& comparison) const
    {
        return {.comparisons = {comparison}, .gate = !command_.quick, .only_changed = !global_.verbose};
    }

    // `against`: the comparison with the baseline, if there is one.
    [[nodiscard]] ExitCode write_reports(const model::RunReport& report, const std::vector<ReportTarget>& targets,
                                         const std::optional<reporters::ComparisonReport>& against) const
    {
        ExitCode code = ExitCode::done;
        for (const ReportTarget& target : targets) {
            const ExitCode written = write_report(report, target, global_, against);
            code = worse(code, written);
            if (written == ExitCode::done && !is_stdout(target.path)) {
                print_note(fmt::format("{} report: {}", target.format, target.path));
            }
        }
        return code;
    }

    // On a stdout that nobody else has.
    [[nodiscard]] ExitCode show(const model::RunReport& report, const std::vector<ReportTarget>& targets,
                                const std::string& path) const
    {
        if (is_stdout_taken(targets, path) || global_.quiet) {
            print_failures(report);
            return ExitCode::done;
        }
        return write_report(report, {"text", "-"}, global_);
    }

    // Beside the report, or as a line on stderr where stdout is taken or the command is quiet.
    [[nodiscard]] ExitCode write_comparison(const measure::Comparison& comparison,
                                            const std::vector<ReportTarget>& targets, const std::string& path) const
    {
        if (is_stdout_taken(targets, path) || global_.quiet) {
            print_note(fmt::format("against {}: {}", comparison.base.name, reporters::headline(comparison).text));
            return ExitCode::done;
        }
        if (!command_.against.empty()) {  // show() has it above what the programs measured
            return ExitCode::done;
        }
        return print_text("\nAgainst the baseline\n" +
                          reporters::to_terminal(document_of(comparison), terminal_style(global_)));
    }

    const RunCommand& command_;
    const GlobalOptions& global_;
    const model::Machine& machine_;
    const engine::Capabilities& capabilities_;
    std::uint64_t budget_bytes_;
    sys::SystemClock clock_;
    sys::StopSignals signals_;
    bool events_begun_{};
};

}  // namespace

ExitCode run_plans(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
                   const std::vector<model::Plan>& plans)
{
    const engine::Capabilities has = capabilities(machine);
    const std::uint64_t budget = command.max_memory_bytes.value_or(has.memory_bytes / 5 * 4);
    if (command.dry_run) {
        return print_text(dry_run_text(plans, budget));
    }
    RunSession session{command, global, machine, has, budget};
    ExitCode code = ExitCode::done;
    for (const model::Plan& plan : plans) {
        code = worse(code, settled(session.run(plan)));
        if (code == ExitCode::interrupted || code == ExitCode::terminated) {
            break;
        }
    }
    return code;
}

// The process that cases run in.
void add_worker(Command& root, const GlobalOptions& /*global*/)
{
    const auto number = std::make_shared<std::string>();
    Command& command = root.hidden_command("worker");
    command.positional("fd FD", value::text(*number), "");
    command.run = [number]() -> base::Expected<ExitCode> {
        const auto fd = base::parse_number(*number);
        if (!fd || *fd > INT_MAX || !sys::Channel::is_end(static_cast<int>(*fd))) {
            return refuse("is memsweep's own: memsweep run starts it, on a socket of its own", "worker");
        }
        return static_cast<ExitCode>(engine::worker_main(static_cast<int>(*fd)));
    };
}

}  // namespace memsweep::app
