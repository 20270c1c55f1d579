// Gives each thread a small number, its slot, that no other living thread has. The slot is an index into arrays of
// per-thread data. Such data need no lock and no locked instruction.
//
// Cost     one thread-local load. A thread's first call claims a slot by a locked instruction.
// Threads  up to 64 living threads have a slot of their own. All other threads share the index `thread_slots`, so
//          accesses to the data with this index need locked instructions. A slot is freed when its thread ends. The
//          writes of the thread that ended happen before the reads of the next thread with this slot.
#pragma once

#include <cstdint>

// The attribute for thread-local variables of the main program, which x86-64 can read by one instruction. It is empty
// for code that may become part of a shared library (-fPIC), which must look up the variable's address.
#if defined(__PIC__) && !defined(__PIE__)
#define MEMSWEEP_LOCAL_EXEC
#else
#define MEMSWEEP_LOCAL_EXEC [[gnu::tls_model("local-exec")]]
#endif

namespace memsweep::memory {

inline constexpr std::uint32_t thread_slots = 64;

// current_thread_slot is the thread's own slot, or thread_slots if the thread has none of its own, or unclaimed_slot
// before its first call of thread_slot().
inline constexpr std::uint32_t unclaimed_slot = thread_slots + 1;
MEMSWEEP_LOCAL_EXEC extern constinit thread_local std::uint32_t current_thread_slot;

[[nodiscard]] std::uint32_t claim_thread_slot() noexcept;

[[nodiscard]] inline std::uint32_t thread_slot() noexcept
{
    const std::uint32_t slot = current_thread_slot;
    return slot != unclaimed_slot ? slot : claim_thread_slot();
}

// Claims a slot if no living thread has it, and frees it in the destructor. The holder may access the data of the ended
// threads that had the slot. Converts to false if a living thread has the slot.
class SlotHold {
  public:
    explicit SlotHold(std::uint32_t slot) noexcept;
    SlotHold(const SlotHold&) = delete;
    SlotHold& operator=(const SlotHold&) = delete;
    ~SlotHold();

    [[nodiscard]] explicit operator bool() const noexcept { return held_; }

  private:
    std::uint32_t slot_;
    bool held_;
};

}  // namespace memsweep::memory
