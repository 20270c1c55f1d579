// Figures of a set of transfers, added up turn by turn.
//
// Units    bytes, nanoseconds, counts; rates in bytes per second. Plain values: they travel through shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace memsweep::transfer {

enum class Direction : std::uint8_t { h2h, h2d, d2h, d2d };

struct TransferStatistics {
    std::array<std::uint64_t, 4> bytes{};      // that arrived, by direction
    std::array<std::uint64_t, 4> transfers{};  // that were completed
    std::uint64_t pieces{};
    std::uint64_t copies{};  // that a runtime was asked for, of processors or of memory
    std::uint64_t chunks{};  // through a ring
    std::uint64_t staged_bytes{};
    std::uint64_t gathered_bytes{};  // copied together before one transfer
    std::uint64_t retries{};
    std::uint64_t failed{};
    std::int64_t wall_ns{};        // from the first one's start to the last one's end, added over turns
    std::int64_t individual_ns{};  // sum over transfers, each from its own start to its own end
    std::uint32_t most_at_once{};
    std::int64_t host_copy_ns{};    // staging: processors copy between memory and slots
    std::int64_t link_ns{};         // staging: slots are on their way, by the device's clock
    std::int64_t staged_wait_ns{};  // staging: a ring could do nothing until a slot had arrived
    std::uint64_t link_timed{};     // chunks that the device's clock was read for
    std::int64_t wait_ns{};         // the program had nothing else to do
    std::uint64_t smallest_chunk_bytes{};
    std::uint64_t largest_chunk_bytes{};
    std::uint64_t pinned_bytes_peak{};
    std::int64_t memory_ns{};    // to get the memory of both ends, touched and pinned
    std::int64_t register_ns{};  // to make host memory known to the driver, and to give it back
    std::uint64_t wrong_bytes{};
    std::uint64_t checked_bytes{};

    TransferStatistics& operator+=(const TransferStatistics& other) noexcept;
    void count_transfer(Direction direction, std::uint64_t arrived_bytes, std::int64_t took_ns) noexcept;

    [[nodiscard]] std::uint64_t all_bytes() const noexcept;
    [[nodiscard]] std::uint64_t all_transfers() const noexcept;

    // Absent if nothing was measured.
    [[nodiscard]] std::optional<double> aggregate_rate() const noexcept;
    [[nodiscard]] std::optional<double> average_at_once() const noexcept;
    [[nodiscard]] std::optional<double> concurrency_benefit() const noexcept;  // (sum - wall) / sum
    [[nodiscard]] std::optional<double> overlap() const noexcept;  // share of the shorter that the longer hid
};

}  // namespace memsweep::transfer
