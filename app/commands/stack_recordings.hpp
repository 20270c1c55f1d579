// Records a program with all its call stacks, for `run --leaks` and `run --against --stacks`. Each trace is read a
// single time and then deleted.
//
// Cost     per run(): a recorded run of the program, and reading its trace.
// Memory   one trace at a time, in the folder for temporary files.
// Errors   not_supported: the program cannot be recorded; os: the run failed or was interrupted; io: the trace cannot
//          be written or read.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"
#include "core/model/command.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::app {

struct RecordedProgram {
    const model::CommandSpec& command;
    model::AllocatorSpec allocator{};
    std::string output;  // where the program's output goes: a value of the scenario key `stdout`
    std::chrono::nanoseconds timeout{};
    std::string name;  // for error messages
};

class StackRecordings {
  public:
    // `library`: the path of the library that is preloaded to record the program.
    StackRecordings(std::string library, const sys::StopSignals& signals);

    // Runs the program one time, and calls `read` with the program's trace and the trace's name.
    using Read = std::function<base::Expected<void>(trace::TraceReader& reader, const std::string& name)>;
    [[nodiscard]] base::Expected<void> run(const RecordedProgram& program, const Read& read) const;

  private:
    std::string library_;
    const sys::StopSignals& signals_;
    sys::SystemClock clock_;
};

}  // namespace memsweep::app
