// Counters and times of a set of transfers, summed over all its turns.
//
// Units    bytes, nanoseconds, counts; rates in bytes per second. The struct is plain data, so that it can lie in
//          shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace memsweep::transfer {

enum class Direction : std::uint8_t { h2h, h2d, d2h, d2d };

struct TransferStatistics {
    std::array<std::uint64_t, 4> bytes{};      // bytes that arrived, by direction
    std::array<std::uint64_t, 4> transfers{};  // transfers that were completed, by direction
    std::uint64_t pieces{};
    std::uint64_t copies{};  // copies made by a runtime or by a processor
    std::uint64_t chunks{};  // chunks of staged copies; each went through a ring of pinned buffers, the slots
    std::uint64_t staged_bytes{};
    std::uint64_t gathered_bytes{};  // bytes collected into one buffer before a transfer
    std::uint64_t retries{};
    std::uint64_t failed{};
    std::int64_t wall_ns{};        // from the first start to the last end in a turn, summed over turns
    std::int64_t individual_ns{};  // from a transfer's own start to its own end, summed over transfers
    std::uint32_t most_at_once{};
    std::int64_t host_copy_ns{};    // staging: time in which processors copied between memory and slots
    std::int64_t link_ns{};         // staging: time in which slots were transferred, by the device's clock
    std::int64_t staged_wait_ns{};  // staging: time in which a ring could only wait for a slot
    std::uint64_t link_timed{};     // chunks timed by the device's clock
    std::int64_t wait_ns{};         // time spent waiting for devices, with no other work left
    std::uint64_t smallest_chunk_bytes{};
    std::uint64_t largest_chunk_bytes{};
    std::uint64_t pinned_bytes_peak{};
    std::int64_t memory_ns{};    // allocating, touching and pinning both ends, and making the slots
    std::int64_t register_ns{};  // registering host memory with the driver, and unregistering it
    std::uint64_t wrong_bytes{};
    std::uint64_t checked_bytes{};

    TransferStatistics& operator+=(const TransferStatistics& other) noexcept;
    void count_transfer(Direction direction, std::uint64_t arrived_bytes, std::int64_t took_ns) noexcept;

    [[nodiscard]] std::uint64_t all_bytes() const noexcept;
    [[nodiscard]] std::uint64_t all_transfers() const noexcept;

    // Absent if nothing was measured. aggregate_rate(): bytes per second of wall_ns. average_at_once(): the mean number
    // of transfers that ran at the same time. concurrency_benefit(): the share of individual_ns that was saved because
    // transfers ran at the same time; negative if they took longer.
    [[nodiscard]] std::optional<double> aggregate_rate() const noexcept;
    [[nodiscard]] std::optional<double> average_at_once() const noexcept;
    [[nodiscard]] std::optional<double> concurrency_benefit() const noexcept;  // (individual - wall) / individual
    // Says how far the two kinds of copies of staging, those of host_copy_ns and those of link_ns, overlapped in time.
    // Takes the shorter of these two times, and returns the share of it, 0..1, in which copies of the other kind ran as
    // well. Absent if nothing was staged, or if the device's clock did not time every chunk.
    [[nodiscard]] std::optional<double> overlap() const noexcept;
};

}  // namespace memsweep::transfer
