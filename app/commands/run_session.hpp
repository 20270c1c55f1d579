// Runs plans one after another: workers, observers, the result file and the reports of each.
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

// The request of `run`; `replay` makes the same one from its own options.
struct RunCommand {
    std::vector<std::string> scenarios;
    std::vector<std::string> words;  // a command, in place of scenarios
    std::vector<std::string> texts;  // whole command lines, one text each, in place of both
    CommandLines lines;              // the options of programs: names, prepare, setup, parameters
    std::string out;                 // empty: results/<scenario>-<UTC>.json
    std::string results_folder;      // of the project; empty: results
    std::string baselines_folder;    // of the project: its SCENARIO.json is the baseline if none is named
    std::vector<ReportTarget> reports;
    scenarios::Overrides overrides;
    std::string filter;
    std::optional<std::uint64_t> max_memory_bytes;  // absent: 80 % of what machine or cgroup has left
    std::map<std::string, std::string> tags;
    std::string events;
    std::string baseline;                            // a result to compare with; %h %r %s %t as in `out`
    std::string gate;                                // a gate file that the comparison is judged by
    std::string against;                             // a command to compare `words` with
    std::map<std::string, std::string> thresholds;   // for the comparison with `against`
    bool strict_counters{};                          // in that comparison, or in the one with `baseline`
    bool duet{};                                     // run both programs at the same time
    bool is_automatic{};                             // rounds until the verdict is sure
    std::optional<std::chrono::nanoseconds> budget;  // no round begins that would end later
    std::string stdout_word;                         // of `words`, as in a scenario; empty: a scenario's default
    std::string stdin_file;                          // for `words`; "-" and empty: as ProgramInput says
    model::EndOfWork end;                            // of `words`; without a sign it is not measured
    bool show_output{};                              // let programs print, as --stdout inherit does
    bool shell{};                                    // `words` and `against` are scripts
    bool count{};                                    // count the allocations of `words`
    bool stacks{};                                   // name the call sites in which the two programs differ
    std::string leaks;                               // NAME=VALUES, numbers of operations; empty: no search for leaks
    std::optional<std::uint64_t> release_after;      // operations after which a program may have freed what it held
    bool resume{};
    bool fail_fast{};
    bool dry_run{};  // print what would be done
    bool quick{};
};

[[nodiscard]] inline bool runs_programs(const RunCommand& run)
{
    return !run.words.empty() || !run.texts.empty();
}

// Returns the worst exit code of all plans. An interruption ends all of them, even between two cases.
[[nodiscard]] ExitCode run_plans(const RunCommand& command, const GlobalOptions& global, const model::Machine& machine,
                                 const std::vector<model::Plan>& plans);

}  // namespace memsweep::app
