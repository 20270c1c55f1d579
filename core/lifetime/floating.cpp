#include "core/lifetime/floating.hpp"

#include <algorithm>
#include <bit>

#include "core/lifetime/discipline.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {
namespace {

constexpr unsigned steps_log2 = 3;

// Durations below 8 have a bucket each; above, the top bit and the three below it choose.
std::size_t bucket_of(std::uint64_t value)
{
    if (value < 1U << steps_log2) {
        return value;
    }
    const auto top = static_cast<unsigned>(std::bit_width(value)) - 1;
    return (std::size_t{top - steps_log2 + 1} << steps_log2) + ((value >> (top - steps_log2)) & 7U);
}

std::uint64_t upper_edge(std::size_t bucket)
{
    if (bucket < 1U << steps_log2) {
        return bucket;
    }
    const std::size_t shift = (bucket >> steps_log2) - 1;
    return (((8U | (bucket & 7U)) + std::uint64_t{1}) << shift) - 1;
}

}  // namespace

void ReleaseLatency::record(std::uint64_t duration_ns) noexcept
{
    counts_[std::min(bucket_of(duration_ns), buckets - 1)].fetch_add(1, relaxed);
    std::uint64_t max = max_ns_.load(relaxed);
    while (duration_ns > max && !max_ns_.compare_exchange_weak(max, duration_ns, relaxed)) {
    }
}

void ReleaseLatency::reset() noexcept
{
    for (auto& count : counts_) {
        count.store(0, relaxed);
    }
    max_ns_.store(0, relaxed);
}

LatencySummary ReleaseLatency::summary() const noexcept
{
    LatencySummary summary;
    std::array<std::uint64_t, buckets> counts{};
    for (std::size_t i = 0; i < buckets; ++i) {
        counts[i] = counts_[i].load(relaxed);
        summary.count += counts[i];
    }
    summary.max_ns = max_ns_.load(relaxed);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < buckets && summary.count != 0; ++i) {
        const std::uint64_t before = below;
        below += counts[i];
        const std::uint64_t edge = std::min(upper_edge(i), summary.max_ns);
        if (before * 2 < summary.count && below * 2 >= summary.count) {
            summary.median_ns = edge;
        }
        if (before * 20 < summary.count * 19 && below * 20 >= summary.count * 19) {
            summary.p95_ns = edge;
        }
    }
    return summary;
}

void FloatingGauge::add(Block& block) noexcept
{
    block.since_ns = steady_ns();
    const std::uint64_t now = bytes_.fetch_add(block.bytes, relaxed) + block.bytes;
    blocks_.fetch_add(1, relaxed);
    std::uint64_t peak = peak_bytes_.load(relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, relaxed)) {
    }
}

void FloatingGauge::remove(const Leaving& left) noexcept
{
    bytes_.fetch_sub(left.bytes, relaxed);
    blocks_.fetch_sub(1, relaxed);
    latency_.record(static_cast<std::uint64_t>(std::max<std::int64_t>(steady_ns() - left.since_ns, 0)));
}

void FloatingGauge::add_to(DisciplineStats& stats) const noexcept
{
    stats.floating_bytes = bytes();
    stats.floating_blocks = blocks();
    stats.floating_bytes_peak = peak_bytes_.load(relaxed);
    stats.release_latency = latency_.summary();
}

void FloatingGauge::reset() noexcept
{
    peak_bytes_.store(bytes(), relaxed);
    latency_.reset();
}

}  // namespace memsweep::lifetime
