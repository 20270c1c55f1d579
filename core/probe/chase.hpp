// Pointer chases: chains of loads through memory, where each load yields the address of the next one. They measure the
// latency of a load.
//
// Units    seconds per load of one chain.
//
// Sources  The order is that of multichase (Google). Memory is divided into groups of pages. The cache lines of a group
//          are visited in random order, then the lines of another random group. So the loads of a group share their TLB
//          misses. With a stride of 64, there are four passes over the memory, and each visits one of every four
//          neighbouring lines. So if the hardware prefetches the neighbour of a visited line, this neighbour is evicted
//          again before it is visited.
//
// Memory   links are written into the memory that is passed in. The constructor needs 4 bytes for each group, and 4 for
//          each 256-byte block of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/clock.hpp"

namespace memsweep::probe {

struct ChaseSpec {
    std::uint64_t bytes{};
    std::uint64_t stride{64};  // 64: a chain visits every line; 256: one of every four, as in multichase
    std::uint64_t group_bytes{std::uint64_t{64} * 4096};  // multichase's default: 64 pages of 4 KiB
    std::uint64_t seed{1};
};

class Chase {
  public:
    // `memory` has spec.bytes, at least 256. Only whole blocks of 256 bytes are used.
    Chase(std::byte* memory, const ChaseSpec& spec);

    [[nodiscard]] std::size_t lines() const noexcept { return lines_; }

    // Start addresses for `chains` chains. All chains follow the same cycle and start at equal distances on it.
    [[nodiscard]] std::vector<void**> starts(std::size_t chains) const;

  private:
    void** start_{};
    std::size_t lines_{};
};

// The numbers of chains that follow() supports.
[[nodiscard]] std::span<const std::size_t> chain_counts() noexcept;

// Advances every chain by `loads` loads. The number of chains must be one of chain_counts().
void follow(std::span<void**> chains, std::size_t loads) noexcept;

// Follows the chains for at least `seconds` and reads the clock every few thousand loads. Returns seconds per load of
// one chain.
[[nodiscard]] double latency_of(std::span<void**> chains, double seconds, const sys::Clock& clock);

}  // namespace memsweep::probe
