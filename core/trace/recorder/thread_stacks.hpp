// What a thread keeps for unwinding: the frames of the last stack that it unwound (remembered), and those of the stack
// that it is unwinding now.
//
// Memory   some 60 KiB of address space for each thread, of which only the pages in use take memory.
// Threads  each thread has its own ThreadStacks. A signal handler that interrupts unwinding uses `nested` for its
//          frames.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/trace/recorder/byte_sampler.hpp"
#include "core/trace/recorder/python_calls.hpp"
#include "core/trace/recorder/stack_bounds.hpp"

namespace memsweep::trace::recorder {

inline constexpr std::uint32_t most_frames = 256;
inline constexpr std::uint32_t most_nested_frames = 64;  // for a signal handler that interrupts unwinding

struct Registers {
    std::uint64_t next{};   // the address behind the current instruction: the return address of a call
    std::uint64_t stack{};  // the stack pointer
    std::uint64_t frame{};  // the frame pointer
};

struct Frame {
    Registers registers;
    std::uint64_t saved_at{};  // address where the caller's frame pointer was read; 0: it equals this frame's
    std::uint32_t node{};  // its node in the tree of stacks; during a search, the number of addresses up to this frame
    bool is_remembered{};  // if its return address and the word at saved_at are unchanged, so is its caller
};

template <std::uint32_t most>
struct Walk {
    std::array<Frame, most> frames;                                 // innermost first
    std::array<std::uint64_t, most + most_python_calls> addresses;  // outermost first
    std::array<std::uint32_t, most + most_python_calls> numbers;
};

// Returns a walk's memory, to be used as a buffer before the walk is filled.
template <std::uint32_t most>
std::span<char> room_of(Walk<most>& walk) noexcept
{
    return {reinterpret_cast<char*>(&walk), sizeof walk};
}

// A node that the thread has looked up.
struct RecentNode {
    std::uint64_t address;
    std::uint32_t parent;
    std::uint32_t number;
};
inline constexpr unsigned recent_bits = 9;

// A Python evaluation (python_calls.hpp) of the last unwinding.
struct RecentEvaluation {
    std::uint64_t marker;
    std::uint64_t key;
};

// A forked child must find this structure unchanged: the fork may have interrupted code that was reading it, and the
// child goes on with that code.
struct ThreadStacks {
    std::uint32_t level;  // number of unwindings in progress; above 1 if a signal handler interrupted one
    std::uint32_t depth;  // how many frames are remembered
    std::uint32_t root;   // the parent node of the outermost remembered frame
    std::uint32_t evaluations_count;
    std::uint64_t entered_at;
    std::uint64_t epoch;
    ByteSampler sampler;
    Bounds own;                                 // the bounds of the thread's stack
    Bounds other;                               // mapping of the last foreign stack that the thread ran on
    std::array<Frame, most_frames> remembered;  // outermost first
    Walk<most_frames> walk;
    Walk<most_nested_frames> nested;
    std::array<RecentNode, std::size_t{1} << recent_bits> recent;
    std::array<RecentEvaluation, most_evaluations> evaluations;  // outermost first
    PythonCalls python;
    std::array<char, 1024> texts;
};

}  // namespace memsweep::trace::recorder
