// What a thread remembers of the stacks that it was met in, and the frames that are being followed.
//
// Memory   some 60 KiB a thread, of which it touches what it needs.
// Threads  its own; in a handler of signals `nested` alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/trace/recorder/byte_sampler.hpp"
#include "core/trace/recorder/python_calls.hpp"
#include "core/trace/recorder/stack_bounds.hpp"

namespace memsweep::trace::recorder {

inline constexpr std::uint32_t most_frames = 256;
inline constexpr std::uint32_t most_nested_frames = 64;  // of a handler that interrupts this

struct Registers {
    std::uint64_t next{};   // the address behind the instruction that is executed: where a call returns to
    std::uint64_t stack{};  // pointer
    std::uint64_t frame{};  // pointer
};

struct Frame {
    Registers registers;
    std::uint64_t saved_at{};  // where the caller's frame pointer was read; 0: it is this one's
    std::uint32_t node{};      // while it is sought: how many addresses there are to here
    bool is_remembered{};      // how it is left can be seen again by two words: its return address and that one
};

template <std::uint32_t most>
struct Walk {
    std::array<Frame, most> frames;                                 // innermost first
    std::array<std::uint64_t, most + most_python_calls> addresses;  // outermost first
    std::array<std::uint32_t, most + most_python_calls> numbers;
};

// What a walk has not filled yet, to read in.
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

// What was met last of an evaluation of Python.
struct RecentEvaluation {
    std::uint64_t marker;
    std::uint64_t key;
};

// A forked child finds it as it was: it may return into code that was reading it.
struct ThreadStacks {
    std::uint32_t level;  // how often the thread is here
    std::uint32_t depth;  // frames remembered
    std::uint32_t root;   // the node that they begin under
    std::uint32_t evaluations_count;
    std::uint64_t entered_at;
    std::uint64_t epoch;
    ByteSampler sampler;
    Bounds own;                                 // the thread's stack
    Bounds other;                               // one that it was met on
    std::array<Frame, most_frames> remembered;  // outermost first
    Walk<most_frames> walk;
    Walk<most_nested_frames> nested;
    std::array<RecentNode, std::size_t{1} << recent_bits> recent;
    std::array<RecentEvaluation, most_evaluations> evaluations;  // outermost first
    PythonCalls python;
    std::array<char, 1024> texts;
};

}  // namespace memsweep::trace::recorder
