// Runs plans one after another: workers, observers, the result file and the reports of each.
//
// Ownership  stop signals are held for the session's life, so that an interruption between two cases is not lost.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/global_options.hpp"
#include "app/commands/comparing.hpp"
#include "app/commands/result_io.hpp"
#include "core/engine/runner.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::app {

// What `run` was asked for; `replay` asks for the same in its own words.
struct RunCommand {
    std::vector<std::string> scenarios;
    std::string out;  // empty: results/<scenario>-<UTC>.json
    std::vector<ReportTarget> reports;
    scenarios::Overrides overrides;
    std::string filter;
    std::optional<std::uint64_t> max_memory_bytes;
    std::map<std::string, std::string> tags;
    std::string events;
    std::string baseline;  // a result to compare with; %h %r %s %t as in `out`
    std::string gate;      // of the comparison
    bool resume{};
    bool fail_fast{};
    bool dry_run{};
    bool quick{};
};

class RunSession {
  public:
    RunSession(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
               const engine::Capabilities& capabilities, std::uint64_t budget_bytes);

    [[nodiscard]] ExitCode run(const model::Plan& plan);

  private:
    [[nodiscard]] model::RunReport new_report(const model::Plan& plan) const;
    [[nodiscard]] base::Expected<std::string> result_path(const model::RunReport& report) const;
    [[nodiscard]] base::Expected<void> take_over_earlier(const std::string& path, const model::Plan& plan,
                                                         model::RunReport& report) const;
    void calibrate(engine::Executor& executor, model::RunReport& report) const;
    void add_warnings(model::RunReport& report) const;
    [[nodiscard]] ExitCode exit_code(const model::RunReport& report, bool interrupted) const;
    [[nodiscard]] std::optional<std::vector<ReportTarget>> report_targets(const model::RunReport& report) const;
    [[nodiscard]] ExitCode write_reports(const model::RunReport& report, const std::vector<ReportTarget>& targets,
                                         const std::string& path) const;
    [[nodiscard]] bool open_baseline(const model::Plan& plan, const model::RunReport& report);
    [[nodiscard]] ExitCode compare_with_baseline(const model::RunReport& report);
    [[nodiscard]] ExitCode write_comparison(const std::vector<ReportTarget>& targets, const std::string& path) const;

    const RunCommand& command_;
    const GlobalOptions& global_;
    const model::Machine& machine_;
    const engine::Capabilities& capabilities_;
    std::uint64_t budget_bytes_;
    sys::SystemClock clock_;
    sys::StopSignals signals_;
    bool events_begun_{};
    std::optional<Baseline> baseline_;  // of the plan that runs
    std::optional<measure::Comparison> comparison_;
};

}  // namespace memsweep::app
