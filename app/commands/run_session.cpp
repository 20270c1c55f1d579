#include "app/commands/run_session.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "app/cli/messages.hpp"
#include "app/commands/calibration.hpp"
#include "app/commands/comparing.hpp"
#include "app/commands/result_file.hpp"
#include "app/commands/result_io.hpp"
#include "app/commands/result_path.hpp"
#include "app/commands/run_observers.hpp"
#include "core/engine/worker_executor.hpp"
#include "core/measure/findings.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/output_file.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::app {
namespace {

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

}  // namespace

RunSession::RunSession(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
                       const engine::Capabilities& capabilities, std::uint64_t budget_bytes)
    : command_{command}, global_{global}, machine_{machine}, capabilities_{capabilities}, budget_bytes_{budget_bytes}
{
}

model::RunReport RunSession::new_report(const model::Plan& plan) const
{
    model::RunReport report = model::new_report(machine_, sys::utc_now(), global_.argv);
    report.run.order = plan.settings.order;
    report.run.seed = plan.settings.seed;
    report.run.isolation = plan.settings.isolation;
    report.run.scenario_name = plan.name;
    report.run.scenario_description = plan.description;
    report.run.scenario_path = plan.path;
    report.run.scenario_sha256 = plan.sha256;
    report.run.scenario_fingerprint = plan.fingerprint;
    report.run.overrides = recorded_overrides(command_.overrides);
    report.run.tags = command_.tags;
    report.run.placement = this_placement(machine_.host);
    return report;
}

base::Expected<std::string> RunSession::result_path(const model::RunReport& report) const
{
    const model::LaunchPlace placement = this_placement(machine_.host);
    const bool among_ranks = placement.ranks.value_or(1) > 1;
    const std::string usual = among_ranks ? "results/%s-%t-%h-%r.json" : "results/%s-%t.json";
    const std::string pattern = command_.out.empty() ? usual : command_.out;
    if (auto shared = shared_path(pattern, placement)) {
        return base::fail(*std::move(shared));
    }
    auto path = pattern == "-" ? base::Expected<std::string>{pattern}
                               : expand_path(pattern, {machine_.host, report.run.scenario_name, report.run.started});
    if (!path || *path == "-") {
        return path;
    }
    if (auto writable = sys::check_writable(*path, typical_result_bytes); !writable) {
        base::Error error = writable.error();
        error.message += command_.out.empty() ? "; -o FILE writes the result elsewhere" : "";
        return base::fail(std::move(error));
    }
    return path;
}

// The earlier run's own file, or what a younger run that was cut off left beside it.
base::Expected<void> RunSession::take_over_earlier(const std::string& path, const model::Plan& plan,
                                                   model::RunReport& report) const
{
    auto earlier = read_result(path);
    auto partial = read_result(ResultFile::partial_path(path));
    const bool partial_fits = partial && partial->run.scenario_fingerprint == plan.fingerprint;
    if (partial_fits && (!earlier || partial->run.started >= earlier->run.started)) {
        earlier = std::move(partial);
    }
    if (!earlier) {
        return base::fail(earlier.error());
    }
    if (earlier->run.scenario_fingerprint != plan.fingerprint) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format(
                "was measured with another scenario (fingerprint {:.12} there, {:.12} here); run without --resume, "
                "or with another -o",
                earlier->run.scenario_fingerprint, plan.fingerprint),
            path);
    }
    report.cases = std::move(earlier->cases);
    report.run.id = earlier->run.id;
    report.run.started = earlier->run.started;
    return {};
}

void RunSession::calibrate(engine::Executor& executor, model::RunReport& report) const
{
    report.calibration.clock_read_seconds = clock_read_seconds(clock_);
    report.calibration.harness_seconds_per_op = harness_seconds_per_op(executor);
}

void RunSession::add_warnings(model::RunReport& report) const
{
    if (auto warning = model::build_warning(report.tool)) {
        report.warnings.push_back(*std::move(warning));
    }
    for (const model::CaseReport& one : report.cases) {
        if (auto warning = measure::profile_warning(one)) {
            report.warnings.push_back(*std::move(warning));
        }
        for (model::Warning& warning : measure::noise_warnings(one)) {
            report.warnings.push_back(std::move(warning));
        }
    }
}

ExitCode RunSession::exit_code(const model::RunReport& report, bool interrupted) const
{
    if (interrupted) {
        return signals_.last() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    }
    const model::Counts counts = model::count(report);
    ExitCode code = ExitCode::done;
    if (counts.errors + counts.timeouts != 0) {
        code = worse(code, ExitCode::case_failed);
    }
    const bool defects =
        std::ranges::any_of(report.cases, [](const model::CaseReport& one) { return !one.defects.empty(); });
    if (counts.assertions_failed != 0 || defects) {
        code = worse(code, ExitCode::finding);
    }
    const bool measured =
        std::ranges::any_of(report.cases, [](const model::CaseReport& one) { return one.repetitions != 0; });
    return measured ? code : worse(code, ExitCode::nothing_measured);
}

// The reports asked for, their paths expanded as the result's, and each proven writable before anything is measured.
std::optional<std::vector<ReportTarget>> RunSession::report_targets(const model::RunReport& report) const
{
    std::vector<ReportTarget> targets = command_.reports;
    for (ReportTarget& target : targets) {
        if (!to_stdout(target)) {
            auto path = expand_path(target.path, {machine_.host, report.run.scenario_name, report.run.started});
            if (!path) {
                print_error(path.error());
                return std::nullopt;
            }
            target.path = *std::move(path);
        }
        if (check_target(target) != ExitCode::done) {
            return std::nullopt;
        }
    }
    return targets;
}

ExitCode RunSession::write_reports(const model::RunReport& report, const std::vector<ReportTarget>& targets,
                                   const std::string& path) const
{
    ExitCode code = ExitCode::done;
    bool stdout_taken = path == "-" || command_.events == "-";
    for (const ReportTarget& target : targets) {
        const ExitCode written = write_report(report, target, global_);
        code = worse(code, written);
        stdout_taken = stdout_taken || to_stdout(target);
        if (written == ExitCode::done && !to_stdout(target)) {
            print_note(fmt::format("{} report: {}", target.format, target.path));
        }
    }
    if (!stdout_taken && !global_.quiet) {
        code = worse(code, write_report(report, {"text", "-"}, global_));
    }
    return code;
}

// True too when no baseline was asked for.
bool RunSession::open_baseline(const model::Plan& plan, const model::RunReport& report)
{
    baseline_.reset();
    comparison_.reset();
    if (command_.baseline.empty()) {
        return true;
    }
    auto criteria = gate_criteria(command_.gate);
    if (!criteria) {
        return false;
    }
    const auto path = expand_path(command_.baseline, {machine_.host, report.run.scenario_name, report.run.started});
    auto opened = path ? Baseline::open(*path, report, plan, *std::move(criteria))
                       : base::Expected<Baseline>{base::fail(path.error())};
    if (!opened) {
        print_error(opened.error());
        return false;
    }
    baseline_ = *std::move(opened);
    return true;
}

// A quick run is compared, but never gates.
ExitCode RunSession::compare_with_baseline(const model::RunReport& report)
{
    if (!baseline_) {
        return ExitCode::done;
    }
    auto comparison = baseline_->compare(report);
    if (!comparison) {
        print_error(comparison.error());
        return ExitCode::bad_input;
    }
    comparison_ = *std::move(comparison);
    return command_.quick ? ExitCode::done : exit_code_of(*comparison_, true);
}

// Beside the report, or as a line on stderr where stdout is taken or the command is quiet.
ExitCode RunSession::write_comparison(const std::vector<ReportTarget>& targets, const std::string& path) const
{
    if (!comparison_) {
        return ExitCode::done;
    }
    const bool stdout_taken = path == "-" || command_.events == "-" || std::ranges::any_of(targets, to_stdout);
    if (stdout_taken || global_.quiet) {
        print_note(fmt::format("against {}: {}", comparison_->base.name, baseline_line(*comparison_)));
        return ExitCode::done;
    }
    const std::string text = "\nAgainst the baseline\n" + baseline_text(*comparison_, !command_.quick, global_);
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

ExitCode RunSession::run(const model::Plan& plan)
{
    model::RunReport report = new_report(plan);
    const auto targets = report_targets(report);
    if (!targets || !open_baseline(plan, report)) {
        return ExitCode::bad_input;
    }
    const auto path = result_path(report);
    if (!path) {
        print_error(path.error());
        return ExitCode::bad_input;
    }
    if (command_.resume) {
        if (const auto taken = take_over_earlier(*path, plan, report); !taken) {
            print_error(taken.error());
            return ExitCode::bad_input;
        }
    }
    const auto observers = RunObservers::make(command_, global_, *path, std::exchange(events_begun_, true), clock_);
    if (!observers) {
        print_error(observers.error());
        return ExitCode::bad_input;
    }
    engine::WorkerExecutor executor{{{"/proc/self/exe", "worker"}, plan.settings.isolation}, clock_, signals_};
    calibrate(executor, report);
    engine::RunOptions options{.memory_budget_bytes = budget_bytes_, .fail_fast = command_.fail_fast};
    options.array_limit_bytes = command_.quick ? quick_array_limit_bytes : 0;
    options.prefault = warm_memory;
    engine::Runner runner{plan, executor, (*observers)->all(), clock_, capabilities_, options};
    runner.run(report);

    add_warnings(report);
    report.run.ended = sys::utc_now();
    report.run.interrupted = runner.interrupted();
    ExitCode code = exit_code(report, runner.interrupted());
    code = runner.interrupted() ? code : worse(code, compare_with_baseline(report));
    report.run.exit_code = static_cast<int>(code);
    const std::optional<std::string> saved = (*observers)->finish(report);
    if (!saved) {
        code = worse(code, ExitCode::bad_input);
    }
    code = worse(code, write_reports(report, *targets, *path));
    code = worse(code, write_comparison(*targets, *path));
    if (saved && *saved != "-") {
        print_note(fmt::format("result: {}", *saved));
    }
    return code;
}

}  // namespace memsweep::app
