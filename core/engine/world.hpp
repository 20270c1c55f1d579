// The memory and the release discipline that a case's arrays live in.
//
// A worker keeps one world per (memory spec, release spec): within one process a later case meets the garbage that an
// earlier one left, as in a real runtime. With process isolation a worker only ever has one.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/run_region.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/stack.hpp"

namespace memsweep::engine {

struct World {
    World(const model::MemorySpec& memory_spec, const model::ReleaseSpec& release_spec,
          memory::Counters& shared_counters, std::uint32_t world_index, device::Runtime* driver)
        : memory{memory_spec}, release{release_spec}, counters{shared_counters}, index{world_index}, runtime{driver},
          stack{memory_spec, release_spec.safety, shared_counters, driver},
          heap{stack.top(), release_spec, &stack.call_times()}, frees_manually{model::frees_manually(release_spec)},
          tolerates_double_free{release_spec.mode == model::ReleaseMode::unsafe_free ||
                                release_spec.mode == model::ReleaseMode::refcount}
    {
    }

    model::MemorySpec memory;
    model::ReleaseSpec release;
    memory::Counters& counters;
    std::uint32_t index;
    device::Runtime* runtime;  // nullptr: the memory is none of a driver's
    memory::ResourceStack stack;
    lifetime::Heap heap;
    bool frees_manually;         // a drop begins with a free by hand
    bool tolerates_double_free;  // a second free of one buffer is harmless
};

class Worlds {
  public:
    explicit Worlds(Gauges& gauges) : gauges_{gauges} {}

    // nullptr when max_worlds are in use and none of them matches.
    [[nodiscard]] World* find_or_make(const model::MemorySpec& memory, const model::ReleaseSpec& release,
                                      device::Runtime* runtime)
    {
        for (const auto& world : worlds_) {
            if (world->memory == memory && world->release == release) {
                return world.get();
            }
        }
        if (worlds_.size() == max_worlds) {
            return nullptr;
        }
        const auto index = static_cast<std::uint32_t>(worlds_.size());
        worlds_.push_back(std::make_unique<World>(memory, release, gauges_.worlds[index], index, runtime));
        return worlds_.back().get();
    }

  private:
    Gauges& gauges_;
    std::vector<std::unique_ptr<World>> worlds_;
};

}  // namespace memsweep::engine
