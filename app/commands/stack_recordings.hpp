// Runs a program under the recorder with all its call stacks. The traces are read and not kept. `run --leaks` and `run
// --against --stacks` use it.
//
// Cost     a recorded run, and reading its trace.
// Memory   one trace at a time, in the folder for temporary files.
// Errors   not_supported: it cannot be recorded; os: the run failed or was interrupted; io: of the trace.
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
    std::string output;  // the use of its output, as in a scenario
    std::chrono::nanoseconds timeout{};
    std::string name;  // for errors
};

class StackRecordings {
  public:
    // `library`: the recorder.
    StackRecordings(std::string library, const sys::StopSignals& signals);

    // Runs the program once. `read` gets its trace, and the trace's name.
    using Read = std::function<base::Expected<void>(trace::TraceReader& reader, const std::string& name)>;
    [[nodiscard]] base::Expected<void> run(const RecordedProgram& program, const Read& read) const;

  private:
    std::string library_;
    const sys::StopSignals& signals_;
    sys::SystemClock clock_;
};

}  // namespace memsweep::app
