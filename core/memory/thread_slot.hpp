// A small number for the calling thread that no other living thread has. It is the index of the thread's own data,
// which then need no lock and no locked instruction.
//
// Cost     one thread-local load; a thread's first call claims its number by a locked instruction.
// Threads  the first 64 at a time have a number of their own; the others share thread_slots, whose data need locked
//          instructions. A number is given back when its thread ends: that thread's writes happen before the reads of
//          the number's next owner.
#pragma once

#include <cstdint>

// The attribute of a thread-local variable in the program itself: x86-64 then reads it by one instruction. Code that
// may become part of a shared library (-fPIC) has to look up its place.
#if defined(__PIC__) && !defined(__PIE__)
#define MEMSWEEP_LOCAL_EXEC
#else
#define MEMSWEEP_LOCAL_EXEC [[gnu::tls_model("local-exec")]]
#endif

namespace memsweep::memory {

inline constexpr std::uint32_t thread_slots = 64;

// The thread's number if it has one, thread_slots for one that shares, unclaimed_slot before its first thread_slot().
inline constexpr std::uint32_t unclaimed_slot = thread_slots + 1;
MEMSWEEP_LOCAL_EXEC extern constinit thread_local std::uint32_t current_thread_slot;

[[nodiscard]] std::uint32_t claim_thread_slot() noexcept;

[[nodiscard]] inline std::uint32_t thread_slot() noexcept
{
    const std::uint32_t slot = current_thread_slot;
    return slot != unclaimed_slot ? slot : claim_thread_slot();
}

// Holds a number that no living thread has, to look after the data of ended threads.
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
