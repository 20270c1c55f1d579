// How a program's accesses and manual frees meet the safety options of its memory, and what they find, by name.
//
// Cost     nothing beyond a branch while every option is off.
// Threads  the interpreter's.
#pragma once

#include <cstdint>
#include <span>

#include "core/array/array.hpp"
#include "core/engine/case_memory.hpp"
#include "core/engine/run_region.hpp"
#include "core/memory/quarantine_adaptor.hpp"
#include "core/sys/fault_trap.hpp"

namespace memsweep::engine {

class Accesses {
  public:
    Accesses(CaseMemory& memory, std::span<SlotRecord> slots)
        : memory_{memory}, slots_{slots}, quarantine_{memory.stack.quarantine()}
    {
        using model::Detection;
        const model::SafetySpec& safety = memory.release.safety;
        checks_ = safety.detect == Detection::flag || safety.detect == Detection::null ||
                  memory.release.mode == model::ReleaseMode::arena_checked;
        traps_ = safety.detect == Detection::unmap || safety.guard_pages;
        guards_ = checks_ || traps_;
    }

    // Whether the memory may be used; a use that may not is counted, and is for the caller to leave out.
    [[nodiscard]] bool allowed(const array::Array& array, std::uint16_t slot)
    {
        const bool allowed = !checks_ || memory_.heap.accessible(array.buffer());
        slots_[slot].uses_after_free += allowed ? 0 : 1;
        return allowed;
    }

    // Runs an access of the array and of `beyond` bytes past its end.
    template <typename Access>
    void run(const array::Array& array, std::uint16_t slot, std::uint64_t beyond, const Access& access)
    {
        if (!guards_) {
            access();
        } else if (allowed(array, slot)) {
            const sys::Trapped trapped = traps_ ? sys::trapped(access) : (access(), sys::Trapped{});
            if (trapped.faulted) {
                ++(beyond != 0 && !array.is_freed() ? slots_[slot].overruns : slots_[slot].uses_after_free);
            }
        }
    }

    void look_for_poison(const array::Array& array, std::uint16_t slot)
    {
        if (quarantine_ != nullptr && array && memory::looks_poisoned(array.data(), array.bytes())) {
            ++slots_[slot].uses_after_free;
        }
    }

    void about_to_release(std::uint16_t slot)
    {
        if (quarantine_ != nullptr) {
            quarantine_->tag_next(slot);
        }
    }

    void free(array::Array& array, std::uint16_t slot)
    {
        about_to_release(slot);
        switch (memory_.heap.free(array.handle())) {
        case lifetime::ManualFree::twice:
            slots_[slot].double_frees += memory_.tolerates_double_free ? 0 : 1;
            break;
        case lifetime::ManualFree::aliased:
            ++slots_[slot].aliased_frees;
            break;
        case lifetime::ManualFree::disregarded:
        case lifetime::ManualFree::done:
        case lifetime::ManualFree::kept:
            break;
        }
    }

    void release_stray(const array::Array& array, std::uint16_t slot)
    {
        about_to_release(slot);
        memory_.heap.release_stray(array.buffer());
        ++slots_[slot].stray_releases;
    }

    void report_broken_poison()
    {
        if (quarantine_ != nullptr) {
            for (const std::uint16_t slot : quarantine_->take_broken()) {
                ++slots_[slot].uses_after_free;
            }
        }
    }

  private:
    CaseMemory& memory_;
    std::span<SlotRecord> slots_;
    memory::QuarantineAdaptor* quarantine_;
    bool checks_{};
    bool traps_{};
    bool guards_{};
};

}  // namespace memsweep::engine
