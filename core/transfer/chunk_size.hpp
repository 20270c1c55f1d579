// How large a chunk is, when it follows the rate that is seen.
//
// Units    bytes, seconds.
// Sources  hill climbing: the size doubles or halves as long as the rate of so many chunks in a row rises, else turns.
#pragma once

#include <cstdint>

namespace memsweep::transfer {

class ChunkSize {
  public:
    // A fixed one, or between 64 KiB and `largest_bytes`, beginning at an eighth of it.
    ChunkSize(std::uint64_t largest_bytes, bool adaptive) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    // Of a chunk that has gone into its slot and on: since the one before did.
    void passed(std::uint64_t bytes, double seconds) noexcept;

  private:
    static constexpr std::uint32_t chunks_per_look = 4;

    std::uint64_t largest_bytes_;
    std::uint64_t bytes_;
    bool adaptive_;
    bool growing_{true};
    std::uint32_t seen_{};
    std::uint64_t seen_bytes_{};
    double seen_seconds_{};
    double last_rate_{};
};

}  // namespace memsweep::transfer
