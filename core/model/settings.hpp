// How a run goes: the order and the isolation of its repetitions, and how a recorded trace is replayed.
//
// Results repeat these beside what was measured, so they stand apart from the plan and its steps.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class Order : std::uint8_t {
    interleaved,  // repetition 1 of every case, then repetition 2 of every case, ...
    sequential,   // all repetitions of a case, then the next case
    shuffled,     // as interleaved, each round in a seeded random order
};

enum class Isolation : std::uint8_t {
    process,  // a fresh worker process per repetition
    none,     // every repetition of every case in one worker process, contaminating each other
};

// Which cases share a worker process, on the reserved axis `placement`.
enum class Placement : std::uint8_t {
    alone,  // a worker of its own for every repetition
    sweep,  // all cases of a sweep in one worker, in the order of the file; each meets what those before it left
    drain,  // as sweep, but what was left is collected and drained before the next case
};

template <>
std::span<const Named<Order>> names<Order>();
template <>
std::span<const Named<Placement>> names<Placement>();
template <>
std::span<const Named<Isolation>> names<Isolation>();

// What a replay writes into the blocks that it allocates.
enum class ReplayTouch : std::uint8_t {
    recorded,    // as the trace says; first_byte where it says nothing
    none,        // nothing
    first_byte,  // of the block and of each further page
    all,         // every byte
};

enum class ReplaySpeed : std::uint8_t { maximum, original };

template <>
std::span<const Named<ReplayTouch>> names<ReplayTouch>();
template <>
std::span<const Named<ReplaySpeed>> names<ReplaySpeed>();

struct SeriesSpec {
    std::chrono::nanoseconds interval{};  // 0: no series
    bool working_set{};
    bool live_bytes{};
};

struct Settings {
    std::uint32_t repetitions{10};
    std::uint32_t warmup{1};
    std::chrono::nanoseconds timeout{std::chrono::seconds{60}};  // of one repetition
    Order order{Order::interleaved};
    std::uint64_t seed{1};
    Isolation isolation{Isolation::process};
};

}  // namespace memsweep::model
