#include "core/lifetime/floating_gauge.hpp"

namespace memsweep::lifetime {

void FloatingGauge::add(std::uint64_t bytes) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    const std::uint64_t now = bytes_.fetch_add(bytes, relaxed) + bytes;
    blocks_.fetch_add(1, relaxed);
    std::uint64_t peak = peak_bytes_.load(relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, relaxed)) {
    }
}

void FloatingGauge::remove(std::uint64_t bytes) noexcept
{
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    blocks_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace memsweep::lifetime
