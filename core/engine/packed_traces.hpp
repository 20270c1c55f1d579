// Traces compiled for replay, in memory that workers can map: one for all cases that replay the same.
//
// Memory   8 bytes an event and some 40 more for a resize or an exchange between threads, until it is destroyed and no
//          program holds them.
// Cost     30 to 60 ns an event, once for each trace, number of threads and speed.
// Errors   as TraceReader::open and compile_replay.
// Threads  one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "core/base/expected.hpp"
#include "core/model/step.hpp"
#include "core/sys/shared_region.hpp"

namespace memsweep::engine {

using PackedTrace = std::shared_ptr<const sys::SharedRegion>;

class PackedTraces {
  public:
    [[nodiscard]] base::Expected<PackedTrace> find_or_compile(const model::ReplayStep& step);

  private:
    using Key = std::tuple<std::string, std::uint32_t, model::ReplaySpeed>;
    std::map<Key, PackedTrace> traces_;
};

}  // namespace memsweep::engine
