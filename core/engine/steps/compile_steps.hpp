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

// Traces compiled for replay, each once.
//
// Memory   8 bytes an event and some 40 more for a resize or an exchange between threads. They are kept until this
//          object is destroyed and no program holds them.
// Cost     30 to 60 ns an event, once for each trace, number of threads and speed.
// Errors   as TraceReader::open, compile_replay and parse_moment.
// Threads  one.
class PackedTraces {
  public:
    [[nodiscard]] base::Expected<PackedTrace> find_or_compile(const model::ReplayStep& step);

  private:
    using Key = std::tuple<std::string, std::uint32_t, model::ReplaySpeed, std::vector<bool>, std::string>;
    std::map<Key, PackedTrace> traces_;
};

// Words of a compiled trace in memory that workers can map.
[[nodiscard]] base::Expected<PackedTrace> packed_trace(const std::vector<std::uint64_t>& words);

// Errors   invalid_input: more names, samples or instructions than the result storage can hold; an array whose shape
//          does not fit; a trace that cannot be read or compiled; safety and pools that the memory cannot take.
[[nodiscard]] base::Expected<StepProgram> compile_steps(const model::Case& plan_case, PackedTraces& traces);

}  // namespace memsweep::engine
