// Short measurements of this machine as it is now: how much it varies, and what its page faults cost.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::sys {

// A short measurement of fixed work, repeated. It shows by how much the times of unchanging work vary on this machine
// now.
//
// Units    seconds per round.
// Sources  one round computes a fixed chain of integer operations, then copies 4 MiB within memory touched before;
//          steal time from /proc/stat below `root`.
// Memory   8 MiB while it runs.
// Errors   none: without memory nothing is copied, without /proc/stat there is no steal time.
struct CanaryReadings {
    std::vector<double> compute_seconds;
    std::vector<double> copy_seconds;
    std::optional<double> steal_share;  // share of all processors' time that the hypervisor took meanwhile
};

struct CanaryLimits {
    int rounds{600};
    int fewest_rounds{10};
    std::chrono::nanoseconds time{std::chrono::milliseconds{1200}};  // ends early, after the fewest rounds
};

[[nodiscard]] CanaryReadings run_canary(const Clock& clock, const CanaryLimits& limits, const std::string& root = "/");

// The pace of this machine at this moment. A reading does one round of the work of run_canary(). It then touches fresh
// memory page by page, and gives memory back to the kernel.
//
// Units    seconds. compute: the chain of integer operations; copy: 4 MiB within memory touched before; fault: the
//          first touch of 1 MiB by pages; release: the unmapping of 8 MiB that were touched.
// Cost     some 4 ms.
// Memory   8 MiB as long as the object lives, 9 more during read(). Without this memory nothing is measured.
class MachinePace {
  public:
    struct Reading {
        double compute_seconds{};
        double copy_seconds{};
        double fault_seconds{};
        double release_seconds{};
    };

    explicit MachinePace(const Clock& clock);
    [[nodiscard]] std::optional<Reading> read();

    // Source and destination of the copy: data and no zeroes. Empty if there is no memory.
    [[nodiscard]] std::span<const std::byte> copied() const noexcept
    {
        return memory_ ? std::span<const std::byte>{memory_->data(), memory_->size()} : std::span<const std::byte>{};
    }

  private:
    const Clock& clock_;
    base::Expected<Mapping> memory_;
    std::uint64_t result_{};  // so that nothing is optimised away
};

// Measures on this machine now what one minor fault of each kind costs a program that fills the page.
//
// A program seldom touches one byte of a page. It writes the page whole, and finds it in the cache after the kernel has
// cleared it. So each cost is the time to write 16 MiB whole while every page faults, less the time to write them
// again, per fault. If that many faults take more than 4 ms, less is written, down to 1 MiB.
//
// Both ways were compared with the time that a concatenation into fresh pages lost. Touching one byte per page gave 119
// to 139 % of that loss, writing whole pages 80 to 105 % (2-core Xeon VM, 31 rounds each).
//
// Units    seconds; pages as the kernel faults them: base pages, or huge ones.
// Cost     20 to 60 ms a kind: a round of 1 MiB that decides how much is filled, then six rounds of two passes. The
//          first of the six does not count.
// Errors   os: memory is refused; not_supported: the kernel gave no huge pages.
enum class FaultKind : std::uint8_t {
    small_page,    // private memory, first touch of a base page
    huge_page,     // private memory, first touch of a transparent huge page
    shared_page,   // shared memory, first touch of a base page: the kernel makes the page
    shared_again,  // shared memory, the page is there and only its page-table entry is missing
};

struct FaultCost {
    double seconds_per_fault{};  // median of the rounds
    std::uint64_t faults{};      // per round
};

[[nodiscard]] base::Expected<FaultCost> measure_fault_cost(const Clock& clock,
                                                           FaultKind kind = FaultKind::small_page) noexcept;

// Measures whether this machine's memory is warm. It compares the first touch of fresh memory with a touch after the
// memory was given back. A guest that has not used memory yet, or has returned it to its host, must first get it from
// there.
//
// Units    seconds per page.
// Sources  private anonymous memory without huge pages, in chunks. All chunks are kept until the end, so that each gets
//          memory that no chunk before it had.
// Memory   up to `most_bytes` resident while it measures, none afterwards.
// Errors   os: no memory can be mapped at all.
inline constexpr std::uint64_t touched_chunk_bytes = 8U << 20;

struct TouchedChunk {
    double first_seconds{};  // first touch of a page
    double again_seconds{};  // touch of a page that this process has just given back
};

// Ends early when `most_time` has passed.
[[nodiscard]] base::Expected<std::vector<TouchedChunk>>
measure_first_touch(const Clock& clock, std::uint64_t most_bytes, std::chrono::nanoseconds most_time);

}  // namespace memsweep::sys
