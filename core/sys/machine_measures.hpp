// Short measurements of the present state of this machine: how much its speed varies, and what page faults cost.
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

// The canary: fixed work, measured again and again. It shows how much the time of unchanging work varies on this
// machine.
//
// Units    seconds per round.
// Sources  a round computes a fixed chain of integer operations, then copies 4 MiB within memory that was touched
//          before. Steal time is read from /proc/stat below `root`.
// Memory   8 MiB while it runs.
// Errors   none: if memory cannot be mapped, copy_seconds is empty. Without /proc/stat, steal_share is absent.
struct CanaryReadings {
    std::vector<double> compute_seconds;
    std::vector<double> copy_seconds;
    std::optional<double> steal_share;  // share of all processors' time that the hypervisor took meanwhile
};

struct CanaryLimits {
    int rounds{600};
    int fewest_rounds{10};
    std::chrono::nanoseconds time{std::chrono::milliseconds{1200}};  // ends after this, but not before fewest_rounds
};

[[nodiscard]] CanaryReadings run_canary(const Clock& clock, const CanaryLimits& limits, const std::string& root = "/");

// The present speed of this machine. A reading does one round of the canary's work, touches fresh memory page by page,
// and returns memory to the kernel.
//
// Units    seconds. compute: the chain of integer operations; copy: 4 MiB within memory that was touched before; fault:
//          first touch of 1 MiB, page by page; release: munmap of 8 MiB that were touched.
// Cost     some 4 ms.
// Memory   8 MiB as long as the object lives, and 9 MiB more during read(). If memory cannot be mapped, read() returns
//          nullopt.
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

    // Source and destination of the copy; the bytes are not all zero. Empty if memory could not be mapped.
    [[nodiscard]] std::span<const std::byte> copied() const noexcept
    {
        return memory_ ? std::span<const std::byte>{memory_->data(), memory_->size()} : std::span<const std::byte>{};
    }

  private:
    const Clock& clock_;
    base::Expected<Mapping> memory_;
    std::uint64_t result_{};  // keeps the compiler from removing the computation
};

// measure_fault_cost() measures what one minor fault of a kind costs a program that writes the whole page.
//
// Memory of 16 MiB is written twice; the first time, every page faults. The cost is the difference between the two
// times, divided by the number of faults. Whole pages are written because programs seldom touch just one byte of a
// page, and because a page is in the cache after the kernel has cleared it. If the faults of 16 MiB would take more
// than 4 ms, fewer bytes are written, but at least 1 MiB.
//
// Accuracy: the estimate was compared with the time that a concatenation into fresh pages really lost to faults. When
// whole pages were written, the estimate was 80 to 105 % of that time. When one byte per page was touched, the estimate
// was 119 to 139 % (2-core Xeon VM, 31 rounds each).
//
// Units    seconds per fault; a fault maps a base page or a huge page.
// Cost     20 to 60 ms for each kind: one round of 1 MiB to choose the size (base pages only), a warm-up round, and
//          five rounds that count. Each round writes its memory twice.
// Errors   os: memory cannot be mapped; not_supported: the kernel gave no huge pages.
enum class FaultKind : std::uint8_t {
    small_page,    // private memory: first touch of a base page
    huge_page,     // private memory: first touch of a transparent huge page
    shared_page,   // shared memory: first touch of a base page, which the kernel must allocate
    shared_again,  // shared memory: the page exists, but its page-table entry is missing
};

struct FaultCost {
    double seconds_per_fault{};  // median of the rounds
    std::uint64_t faults{};      // per round
};

[[nodiscard]] base::Expected<FaultCost> measure_fault_cost(const Clock& clock,
                                                           FaultKind kind = FaultKind::small_page) noexcept;

// measure_first_touch() finds out whether a virtual machine still has to get memory from its host. The host gives
// memory to a virtual machine at the first touch, and again if the guest had given the memory back to the host. So the
// first touch of fresh memory is compared with the touch of memory that this process has just returned to the guest's
// kernel, which still has it from the host.
//
// Units    seconds per page.
// Sources  private anonymous memory without huge pages, in chunks. All chunks stay mapped until the end, so that no two
//          chunks get the same memory.
// Memory   up to `most_bytes` resident while it measures, none afterwards.
// Errors   os: not even one chunk can be mapped.
inline constexpr std::uint64_t touched_chunk_bytes = 8U << 20;

struct TouchedChunk {
    double first_seconds{};  // first touch of a page
    double again_seconds{};  // touch of a page that this process has just returned (MADV_DONTNEED)
};

// Measures one chunk after another, up to `most_bytes`. No chunk begins after `most_time`.
[[nodiscard]] base::Expected<std::vector<TouchedChunk>>
measure_first_touch(const Clock& clock, std::uint64_t most_bytes, std::chrono::nanoseconds most_time);

}  // namespace memsweep::sys
