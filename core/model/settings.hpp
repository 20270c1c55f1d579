// Settings of a run: among them the order and the isolation of its repetitions, and how a recorded trace is replayed.
//
// The settings are kept apart from the plan and its steps, because results contain the settings too.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class Order : std::uint8_t { interleaved, sequential, shuffled };

template <>
inline constexpr auto name_table<Order> = std::to_array<Named<Order>>({
    {Order::interleaved, "interleaved",
     "repetitions go round-robin over the cases, so that drift affects all cases alike"},
    {Order::sequential, "sequential", "all repetitions of a case, then the next case"},
    {Order::shuffled, "shuffled", "round-robin, each round in a seeded random order"},
});

enum class Isolation : std::uint8_t { process, none };

template <>
inline constexpr auto name_table<Isolation> = std::to_array<Named<Isolation>>({
    {Isolation::process, "process", "a fresh worker process per repetition"},
    {Isolation::none, "none", "everything in one worker process: cases contaminate each other"},
});

// Which cases share a worker process. These are the values of the axis `placement`, a name that has this meaning in
// every scenario.
enum class Placement : std::uint8_t { alone, sweep, drain };

template <>
inline constexpr auto name_table<Placement> = std::to_array<Named<Placement>>({
    {Placement::alone, "alone", "a worker process of its own for every repetition of a case"},
    {Placement::sweep, "sweep",
     "all cases of a mode in one worker, in the order of the file: each case finds the memory that earlier ones left"},
    {Placement::drain, "drain", "as sweep, but memory left by a case is collected and drained before the next"},
});

// What a replay writes into the blocks that it allocates.
enum class ReplayTouch : std::uint8_t { recorded, none, first_byte, all };

template <>
inline constexpr auto name_table<ReplayTouch> = std::to_array<Named<ReplayTouch>>({
    {ReplayTouch::recorded, "recorded", "as first-byte, because traces do not yet record what was written"},
    {ReplayTouch::none, "none", "nothing is written"},
    {ReplayTouch::first_byte, "first-byte", "the first byte of the block and of each further page"},
    {ReplayTouch::all, "all", "every byte"},
});

enum class ReplaySpeed : std::uint8_t { maximum, original };

template <>
inline constexpr auto name_table<ReplaySpeed> = std::to_array<Named<ReplaySpeed>>({
    {ReplaySpeed::maximum, "maximum", "each event follows the one before at once"},
    {ReplaySpeed::original, "original", "no event happens before its time in the recording"},
});

struct SeriesSpec {
    std::chrono::nanoseconds interval{};  // 0: no series
    bool working_set{};
    bool live_bytes{};
};

struct Settings {
    std::uint32_t repetitions{10};
    std::uint32_t warmup{1};                                     // unmeasured repetitions before the measured ones
    std::chrono::nanoseconds timeout{std::chrono::seconds{60}};  // of one repetition
    Order order{Order::interleaved};
    std::uint64_t seed{1};
    Isolation isolation{Isolation::process};
    std::vector<std::string> headline{};  // metrics that reports show before all others
};

}  // namespace memsweep::model
