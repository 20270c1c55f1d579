// Which of many allocations a trigger collects before, by number, in invented time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/lifetime/triggers.hpp"

namespace memsweep::lifetime {

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::int64_t us = 1000;
inline constexpr std::int64_t ms = 1000 * us;

// A collection of no length at that time, by the trigger's own wish.
inline Collection instant(std::int64_t at_ns, std::uint64_t freed_bytes = 0)
{
    return {at_ns, at_ns, freed_bytes, false};
}

// The numbers, from 0, of those among `count` equal allocations that the trigger collects before.
inline std::vector<std::uint64_t> collected_before(Trigger& trigger, std::uint64_t count, std::uint64_t bytes = 8)
{
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::int64_t now = static_cast<std::int64_t>(i) * ms;
        Due due = trigger.before_allocate(bytes, now);
        if (due != Due::no) {
            numbers.push_back(i);
        }
        for (; due != Due::no; due = trigger.again()) {
            trigger.collected(instant(now));
        }
    }
    return numbers;
}

inline std::vector<std::uint64_t> first_then_every(std::uint64_t first, std::uint64_t every, std::uint64_t count)
{
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = first; i < count; i += every) {
        numbers.push_back(i);
    }
    return numbers;
}

}  // namespace memsweep::lifetime
