// The earlier stacks that a thread remembers, and the frames that are being followed.
//
// Memory   some 60 KiB a thread, of which it touches what it needs.
// Threads  each thread its own; a signal handler uses `nested` alone.
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
    std::uint64_t saved_at{};  // where the caller's frame pointer was read; 0: it is the same as this one's
    std::uint32_t node{};      // during a search: the number of addresses up to here
    bool is_remembered{};      // its return address and the word at saved_at show that it is left in the same way
};

template <std::uint32_t most>
struct Walk {
    std::array<Frame, most> frames;                                 // innermost first
    std::array<std::uint64_t, most + most_python_calls> addresses;  // outermost first
    std::array<std::uint32_t, most + most_python_calls> numbers;
};

// The part of a walk that is not filled yet.
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

// The last findings about an evaluation of Python.
struct RecentEvaluation {
    std::uint64_t marker;
    std::uint64_t key;
};

// A forked child finds it unchanged, because it may return into code that was reading it.
struct ThreadStacks {
    std::uint32_t level;  // how many times the thread is in this code, in handlers too
    std::uint32_t depth;  // frames remembered
    std::uint32_t root;   // the node under which they begin
    std::uint32_t evaluations_count;
    std::uint64_t entered_at;
    std::uint64_t epoch;
    ByteSampler sampler;
    Bounds own;                                 // the thread's stack
    Bounds other;                               // another stack on which it was met
    std::array<Frame, most_frames> remembered;  // outermost first
    Walk<most_frames> walk;
    Walk<most_nested_frames> nested;
    std::array<RecentNode, std::size_t{1} << recent_bits> recent;
    std::array<RecentEvaluation, most_evaluations> evaluations;  // outermost first
    PythonCalls python;
    std::array<char, 1024> texts;
};

}  // namespace memsweep::trace::recorder
