// What floats: blocks whose last handle is gone and whose memory has not been freed yet.
//
// Units    bytes and blocks.
// Cost     three relaxed atomic operations to add, two to remove.
// Threads  any. Add before another thread can free the block and remove after it is freed: then what is floating is
//          never counted too low.
#pragma once

#include <atomic>
#include <cstdint>

namespace memsweep::lifetime {

class FloatingGauge {
  public:
    void add(std::uint64_t bytes) noexcept;
    void remove(std::uint64_t bytes) noexcept;
    void reset_peak() noexcept { peak_bytes_.store(bytes(), std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> blocks_{0};
    std::atomic<std::uint64_t> peak_bytes_{0};
};

}  // namespace memsweep::lifetime
