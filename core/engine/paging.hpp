// The steps that say where pages are: brought in, moved between nodes, streamed through, shared.
//
// Cost     of a step's own system calls, which belong to its time.
// Threads  the interpreter's.
#pragma once

#include "core/engine/environment.hpp"
#include "core/engine/handles.hpp"
#include "core/engine/run_region.hpp"
#include "core/engine/world.hpp"

namespace memsweep::engine {

class Paging {
  public:
    Paging(Environment environment, RepetitionRecord& record) : clock_{environment.clock}, record_{record} {}

    void prefetch(const Handles& handles, model::PrefetchHow how);
    [[nodiscard]] memory::AllocStatus migrate(const Handles& handles, std::uint32_t node);
    void stream(const Handles& handles, const Instruction& instruction);
    [[nodiscard]] memory::AllocStatus share(const Instruction& instruction);

  private:
    const sys::Clock& clock_;
    RepetitionRecord& record_;
};

}  // namespace memsweep::engine
