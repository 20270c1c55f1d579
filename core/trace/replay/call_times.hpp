// Histograms of how long calls of an allocator take, by the size of the block. The time scale has four steps for each
// doubling of the time.
//
// Units    ticks of the processor's counter. The engine converts them to seconds for its reports. The counter has a
//          constant rate on every machine that is fit to measure on.
// Cost     two readings of the counter for each call, some 16 ns. The times include these readings.
// Memory   2 x 48 x 128 counts of 4 bytes for each thread.
// Threads  one; add() joins the counts of several threads.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/trace/format/ticks.hpp"

namespace memsweep::trace {

enum class CallKind : std::uint8_t { allocate, release };
inline constexpr std::size_t call_kinds = 2;
inline constexpr std::size_t call_size_classes = 48;  // by bit_width of the size; the last also has larger sizes
inline constexpr std::size_t call_time_steps = 128;   // the last also has longer times

struct CallTimeCounts {
    std::array<std::array<std::array<std::uint32_t, call_time_steps>, call_size_classes>, call_kinds> counts{};

    [[nodiscard]] static std::size_t size_class(std::uint64_t size) noexcept
    {
        const auto width = static_cast<std::size_t>(std::bit_width(size));
        return width < call_size_classes ? width : call_size_classes - 1;
    }
    // 0 to 3 ticks have a step each. From 4 ticks on, there are four steps for each doubling of the ticks.
    [[nodiscard]] static std::size_t step_of(std::uint64_t ticks) noexcept
    {
        if (ticks < 4) {
            return static_cast<std::size_t>(ticks);
        }
        const auto width = static_cast<std::size_t>(std::bit_width(ticks));
        const std::size_t step = (width - 2) * 4 + ((ticks >> (width - 3)) & 3U);
        return step < call_time_steps ? step : call_time_steps - 1;
    }
    // Returns the smallest number of ticks that belongs to a step.
    [[nodiscard]] static std::uint64_t ticks_of(std::size_t step) noexcept
    {
        return step < 4 ? step : (4 + (step & 3U)) << (step / 4 - 1);
    }

    void count(CallKind kind, std::uint64_t size, std::uint64_t ticks) noexcept
    {
        ++counts[static_cast<std::size_t>(kind)][size_class(size)][step_of(ticks)];
    }
    void add(const CallTimeCounts& other) noexcept
    {
        for (std::size_t kind = 0; kind < call_kinds; ++kind) {
            for (std::size_t size = 0; size < call_size_classes; ++size) {
                for (std::size_t step = 0; step < call_time_steps; ++step) {
                    counts[kind][size][step] += other.counts[kind][size][step];
                }
            }
        }
    }
};

}  // namespace memsweep::trace
