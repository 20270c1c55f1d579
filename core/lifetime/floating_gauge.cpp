#include "core/lifetime/floating_gauge.hpp"

#include <algorithm>

#include "core/lifetime/clock.hpp"

namespace memsweep::lifetime {

void FloatingGauge::add(Block& block) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    block.since_ns = steady_ns();
    const std::uint64_t now = bytes_.fetch_add(block.bytes, relaxed) + block.bytes;
    blocks_.fetch_add(1, relaxed);
    std::uint64_t peak = peak_bytes_.load(relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, relaxed)) {
    }
}

void FloatingGauge::remove(const Leaving& left) noexcept
{
    bytes_.fetch_sub(left.bytes, std::memory_order_relaxed);
    blocks_.fetch_sub(1, std::memory_order_relaxed);
    latency_.record(static_cast<std::uint64_t>(std::max<std::int64_t>(steady_ns() - left.since_ns, 0)));
}

void FloatingGauge::reset() noexcept
{
    peak_bytes_.store(bytes(), std::memory_order_relaxed);
    latency_.reset();
}

}  // namespace memsweep::lifetime
