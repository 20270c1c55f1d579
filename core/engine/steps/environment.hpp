// The surroundings of a repetition: the operating system, the drivers, and the memory of its case.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/device/open.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/stack.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

// The accelerators of a worker. They are searched for when a case first needs them, and kept for later cases.
//
// Threads  one.
class Devices {
  public:
    Devices() = default;
    explicit Devices(std::unique_ptr<device::Runtime> runtime) : runtime_{std::move(runtime)} {}

    [[nodiscard]] device::Runtime& runtime()
    {
        if (!runtime_) {
            runtime_ = device::open_runtime();
        }
        return *runtime_;
    }

    [[nodiscard]] bool is_open() const noexcept { return runtime_ != nullptr && !runtime_->devices().empty(); }

  private:
    std::unique_ptr<device::Runtime> runtime_;
};

// The services of the operating system and of drivers that the engine uses. They are passed in, so that tests can pass
// fakes.
struct Environment {
    const sys::Clock& clock;
    sys::ProcessProbe& probe;
    Devices* devices{};  // nullptr: no devices are searched for
};

// The memory of a case and the release discipline that its arrays live under.
//
// A worker keeps one CaseMemory for each pair of memory and release specifications. So, within one process, a case
// meets the garbage that earlier cases left, as in a real runtime. With process isolation a worker only ever has one
// CaseMemory.
struct CaseMemory {
    CaseMemory(const model::MemorySpec& memory_spec, const model::ReleaseSpec& release_spec,
               memory::Counters& shared_counters, std::uint32_t counters_index, device::Runtime* driver)
        : spec{memory_spec}, release{release_spec}, counters{shared_counters}, index{counters_index}, runtime{driver},
          stack{memory_spec, release_spec.safety, shared_counters, driver},
          heap{stack.top(), release_spec, &stack.call_times()}, frees_manually{model::frees_manually(release_spec)}
    {
    }

    model::MemorySpec spec;
    model::ReleaseSpec release;
    memory::Counters& counters;
    std::uint32_t index;       // of its counters in the worker's Gauges
    device::Runtime* runtime;  // nullptr: the memory does not come from a driver
    memory::ResourceStack stack;
    lifetime::Heap heap;
    bool frees_manually;  // the program frees arrays by hand before it drops them
};

class CaseMemories {
  public:
    explicit CaseMemories(Gauges& gauges) : gauges_{gauges} {}

    // Returns the CaseMemory with these two specifications, and makes it if there is none. nullptr: there is none, and
    // max_case_memories others exist already.
    [[nodiscard]] CaseMemory* find_or_make(const model::MemorySpec& spec, const model::ReleaseSpec& release,
                                           device::Runtime* runtime)
    {
        for (const auto& memory : memories_) {
            if (memory->spec == spec && memory->release == release) {
                return memory.get();
            }
        }
        if (memories_.size() == max_case_memories) {
            return nullptr;
        }
        const auto index = static_cast<std::uint32_t>(memories_.size());
        memories_.push_back(std::make_unique<CaseMemory>(spec, release, gauges_.counters[index], index, runtime));
        return memories_.back().get();
    }

  private:
    Gauges& gauges_;
    std::vector<std::unique_ptr<CaseMemory>> memories_;
};

}  // namespace memsweep::engine
