// What floats: blocks whose last handle is gone and whose memory has not been freed yet; and how long they did.
//
// Units    bytes and blocks.
// Cost     a clock read and three relaxed atomic operations to add; the same and one more to remove.
// Threads  any. Add before another thread can free the block and remove after it is freed: then what is floating is
//          never counted too low.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lifetime/block.hpp"
#include "core/lifetime/release_latency.hpp"

namespace memsweep::lifetime {

class FloatingGauge {
  public:
    void add(Block& block) noexcept;

    // What remove() needs to know once the block is another buffer's.
    struct Leaving {
        std::uint64_t bytes{};
        std::int64_t since_ns{};
    };
    [[nodiscard]] static Leaving leaving(const Block& block) noexcept { return {block.bytes, block.since_ns}; }
    void remove(const Leaving& left) noexcept;

    void reset() noexcept;  // the peak starts from the present value, the latencies from none

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] LatencySummary latency() const noexcept { return latency_.summary(); }

  private:
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> blocks_{0};
    std::atomic<std::uint64_t> peak_bytes_{0};
    ReleaseLatency latency_;
};

}  // namespace memsweep::lifetime
