// Chains of loads through memory, each of which gives the address of the next. They show how long one load takes.
//
// Units    seconds per load of one chain.
//
// Sources  as multichase (Google): a random order of the lines of a group of pages, then of the next group, whose order
//          is random too. So the loads of a group share translation misses. One of every four lines is visited before
//          any second one of the four. So a line that the hardware fetches beside another is long gone when its turn
//          comes.
//
// Memory   links are written into the memory that is passed in; building needs 8 bytes for each block of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/clock.hpp"

namespace memsweep::probe {

struct ChaseSpec {
    std::uint64_t bytes{};
    std::uint64_t stride{64};                             // 64: every line; 256: one of each four, multichase's default
    std::uint64_t group_bytes{std::uint64_t{64} * 4096};  // multichase's default: 64 pages of 4 KiB
    std::uint64_t seed{1};
};

class Chase {
  public:
    // `memory` has spec.bytes, at least two lines; whole blocks of 256 bytes of it are used.
    Chase(std::byte* memory, const ChaseSpec& spec);

    [[nodiscard]] std::size_t lines() const noexcept { return lines_; }

    // The starts of so many chains, equally far apart on the one cycle that all of them follow.
    [[nodiscard]] std::vector<void**> starts(std::size_t chains) const;

  private:
    void** start_{};
    std::size_t lines_{};
};

// The numbers of chains that follow() supports.
[[nodiscard]] std::span<const std::size_t> chain_counts() noexcept;

// Moves every chain on by `loads`. The number of chains is one of chain_counts().
void follow(std::span<void**> chains, std::size_t loads) noexcept;

// Loads until at least this time has passed, the clock read every few thousand loads. Returns seconds per load.
[[nodiscard]] double latency_of(std::span<void**> chains, double seconds, const sys::Clock& clock);

}  // namespace memsweep::probe
