// Runs a program and explains its memory. The program is recorded with all call stacks, and stopped at the requested
// moment.
//
// Cost     the recording, one reading of the program's memory at each stop, and the replays of explained_returns.hpp.
// Errors   the program cannot be recorded, traced or started. A later error is in ExplainedRun::explanation.
// Threads  one; a second one writes the trace while the program runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/end_snapshot.hpp"
#include "core/base/expected.hpp"
#include "core/model/command.hpp"
#include "core/sys/child_process.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

// The moment that is explained.
struct AskedMoment {
    enum class Kind : std::uint8_t { end, peak, time };
    Kind kind{};
    std::chrono::nanoseconds time{};  // since the start of the recording

    [[nodiscard]] std::string name() const { return kind == Kind::end ? "end" : kind == Kind::peak ? "peak" : "time"; }
};
// Reads "end", "peak" or a time such as "12.5s".
[[nodiscard]] base::Expected<AskedMoment> read_moment(const std::string& text);

struct RunToExplain {
    std::vector<std::string> command;
    std::string process;  // the name of the program to explain, if the command starts it; empty: the command itself
    AskedMoment at;
    model::EndOfWork end;  // the sign that the program has done its work
    std::uint32_t removed_sites{3};
};

struct ExplainedRun {
    sys::ExitStatus status;
    // Absent: the program ended before it could be stopped, or before the sign of `end` came.
    std::optional<base::Expected<reporters::Explanation>> explanation;
    // The names of all programs that were started. Empty if `process` was found or not given.
    std::vector<std::string> started;
};

// Runs the program, explains it, and returns after the program has ended.
[[nodiscard]] base::Expected<ExplainedRun> explain_run(const RunToExplain& run);

// The reason to show if an explanation lacks the contents of memory because no forked copy of the program was made at
// the explained moment.
inline constexpr std::string_view no_memory_then = "What its memory held at that moment was not read";
// Returns a CopyAnswer that says why nothing was asked to return memory: there was no copy of the program to ask.
[[nodiscard]] CopyAnswer not_asked();

}  // namespace memsweep::app
