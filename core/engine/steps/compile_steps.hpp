// Compiles the steps of a case into the instructions that a worker carries out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/expected.hpp"
#include "core/engine/repetition/step_program.hpp"

namespace memsweep::engine {

// Compiles traces for replay, and keeps each compiled trace for other cases that replay it.
//
// Memory   8 bytes an event, and some 40 more for a resize or for a block that passes between threads. A compiled trace
//          is freed when this object and every program that holds the trace are gone.
// Cost     30 to 60 ns an event. A trace is compiled again only for a different set of options (threads, speed,
//          left_out, until).
// Errors   those of TraceReader::open, compile_replay and parse_moment.
// Threads  one.
class PackedTraces {
  public:
    [[nodiscard]] base::Expected<PackedTrace> find_or_compile(const model::ReplayStep& step);

  private:
    using Key = std::tuple<std::string, std::uint32_t, model::ReplaySpeed, std::vector<bool>, std::string>;
    std::map<Key, PackedTrace> traces_;
};

// Copies the words of a compiled trace into memory that workers can map.
[[nodiscard]] base::Expected<PackedTrace> packed_trace(const std::vector<std::uint64_t>& words);

// Errors   invalid_input: too many names, samples or instructions; an array whose shape is too large; a trace that
//          cannot be read or compiled; safety options or a pool that this kind of memory does not support.
[[nodiscard]] base::Expected<StepProgram> compile_steps(const model::Case& plan_case, PackedTraces& traces);

}  // namespace memsweep::engine
