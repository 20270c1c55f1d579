// Runs plans one after another, each with its workers, observers, result file and reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command_lines.hpp"
#include "app/commands/results.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::app {

// The options of `run`. `replay` fills in the same struct from its own options.
struct RunCommand {
    std::vector<std::string> scenarios;
    std::vector<std::string> words;  // a program and its arguments, instead of scenarios
    std::vector<std::string> texts;  // command lines, each in one text, instead of `scenarios` and `words`
    CommandLines lines;              // the options of programs: names, prepare, setup, parameters
    std::string out;                 // empty: results/<scenario>-<UTC>.json
    std::string results_folder;      // from the project file; empty: results
    std::string baselines_folder;    // from the project file: its SCENARIO.json is the default baseline
    std::vector<ReportTarget> reports;
    scenarios::Overrides overrides;
    std::string filter;
    std::optional<std::uint64_t> max_memory_bytes;  // absent: 80 % of the memory that the machine or cgroup has left
    std::map<std::string, std::string> tags;
    std::string events;
    std::string baseline;                                   // a result to compare with; may have %h %r %s %t, as `out`
    std::string gate;                                       // the gate file for the comparison
    std::string against;                                    // a command to compare `words` with
    std::map<std::string, std::string> thresholds;          // for the comparison with `against` or a baseline
    std::map<std::string, std::string> project_thresholds;  // from the project file; `thresholds` overrides them
    bool strict_counters{};  // --strict-counters, for the comparison with `against` or `baseline`
    bool duet{};             // run `words` and `against` at the same time
    bool is_automatic{};     // run rounds until the verdict is sure
    std::optional<std::chrono::nanoseconds> budget;  // no round begins that would end after this time
    std::string stdout_word;  // what happens to stdout of `words`, as in a scenario; empty: the default
    std::string stdin_file;   // stdin of `words`; "-" and empty: see ProgramInput::take
    model::EndOfWork end;     // the sign that the program of `words` has done its work; none: not measured
    bool show_output{};       // let programs print to our stdout, as --stdout inherit does
    bool shell{};             // `words` and `against` are shell scripts
    bool count{};             // count the allocations of the program of `words`
    bool stacks{};            // name the call sites whose allocations differ between `words` and `against`
    std::string leaks;        // NAME=VALUES: numbers of operations; empty: no search for leaks
    std::optional<std::uint64_t> release_after;  // the number of operations after which a program may free memory
    bool resume{};
    bool fail_fast{};
    bool dry_run{};  // only print what would be done
    bool quick{};
};

[[nodiscard]] inline bool runs_programs(const RunCommand& run)
{
    return !run.words.empty() || !run.texts.empty();
}

// Runs the plans one after another. Returns the worst of their exit codes. An interruption ends all plans, even if it
// comes between two cases.
[[nodiscard]] ExitCode run_plans(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
                                 const std::vector<model::Plan>& plans);

}  // namespace memsweep::app
