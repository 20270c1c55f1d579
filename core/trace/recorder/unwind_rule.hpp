// A rule tells how to get from a function's frame to its caller's frame. A rule holds for one address of code. It comes
// from the object's call frame information for that address (.eh_frame). Rules are so small that a table entry is read
// by one load and written by one store.
//
// Sources  DWARF 5, 6.4; Linux Standard Base 5, 10.6 (.eh_frame, .eh_frame_hdr); the x86-64 psABI, 3.6.2.
// Cost     rule_at(): some 200 ns, and a page fault if the object's information has not been read yet.
// Memory   the stack, some hundred bytes.
// Errors   if the information is not understood, the rule is RuleKind::by_frame_pointer: a guess that the caller must
//          check.
// Threads  any; async-signal-safe.
#pragma once

#include <cstdint>

namespace memsweep::trace::recorder {

// CFA: the value of the caller's stack pointer after the return from the call. The return address is the word below the
// CFA.
enum class RuleKind : std::uint8_t {
    unknown = 0,            // an empty entry of a table
    from_stack_pointer,     // CFA = stack pointer + offset
    from_frame_pointer,     // CFA = frame pointer + offset
    through_frame_pointer,  // CFA = word at (frame pointer - offset); caller's frame pointer = word at frame pointer
    signal_frame,           // the caller's registers are in the ucontext_t that the kernel has pushed
    linkage_table,          // a PLT entry: CFA = stack pointer + 8, but + 16 from byte `offset` of the entry on
    outermost,              // the function has no caller
    // a guess, if nothing is known: the frame pointer points to CFA - 16, where the caller's frame pointer is saved
    by_frame_pointer,
};

struct UnwindRule {
    RuleKind kind{};
    std::uint8_t saved_at{};  // the caller's frame pointer is the word at CFA - 8 * saved_at; 0: unchanged
    std::uint16_t offset{};   // in words; in bytes for a linkage_table

    [[nodiscard]] static constexpr UnwindRule unpacked(std::uint32_t bits) noexcept
    {
        return {static_cast<RuleKind>(bits & 0xFFU), static_cast<std::uint8_t>(bits >> 8U),
                static_cast<std::uint16_t>(bits >> 16U)};
    }
    [[nodiscard]] constexpr std::uint32_t packed() const noexcept
    {
        return static_cast<std::uint32_t>(kind) | std::uint32_t{saved_at} << 8U | std::uint32_t{offset} << 16U;
    }
};

// Returns the rule for the instruction that contains `address`. So for a return address, pass the address minus 1.
// `header`: the object's .eh_frame_hdr in memory.
[[nodiscard]] UnwindRule rule_at(const std::uint8_t* header, std::uint64_t address) noexcept;

}  // namespace memsweep::trace::recorder
