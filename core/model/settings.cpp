#include "core/model/settings.hpp"

#include <array>

namespace memsweep::model {

template <>
std::span<const Named<Order>> names<Order>()
{
    static constexpr std::array<Named<Order>, 3> table{{
        {Order::interleaved, "interleaved", "repetitions go round-robin over the cases, so that drift hits all alike"},
        {Order::sequential, "sequential", "all repetitions of a case, then the next case"},
        {Order::shuffled, "shuffled", "round-robin, each round in a seeded random order"},
    }};
    return table;
}

template <>
std::span<const Named<Isolation>> names<Isolation>()
{
    static constexpr std::array<Named<Isolation>, 2> table{{
        {Isolation::process, "process", "a fresh worker process per repetition"},
        {Isolation::none, "none", "everything in one worker process: cases contaminate each other"},
    }};
    return table;
}

template <>
std::span<const Named<Placement>> names<Placement>()
{
    static constexpr std::array<Named<Placement>, 3> table{{
        {Placement::alone, "alone", "a worker process of its own for every repetition of a case"},
        {Placement::sweep, "sweep",
         "all cases of a mode in one worker, in the order of the file: each meets what those before it left"},
        {Placement::drain, "drain", "as sweep, but what was left is collected and drained before the next case"},
    }};
    return table;
}

template <>
std::span<const Named<ReplayTouch>> names<ReplayTouch>()
{
    static constexpr std::array<Named<ReplayTouch>, 4> table{{
        {ReplayTouch::recorded, "recorded", "as first-byte: no trace says yet what was written"},
        {ReplayTouch::none, "none", "nothing is written"},
        {ReplayTouch::first_byte, "first-byte", "the first byte of the block and of each further page"},
        {ReplayTouch::all, "all", "every byte"},
    }};
    return table;
}

template <>
std::span<const Named<ReplaySpeed>> names<ReplaySpeed>()
{
    static constexpr std::array<Named<ReplaySpeed>, 2> table{{
        {ReplaySpeed::maximum, "maximum", "one event after the other"},
        {ReplaySpeed::original, "original", "no event before its time in the recording"},
    }};
    return table;
}

}  // namespace memsweep::model
