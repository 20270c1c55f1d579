// How long dropped memory waited: quantiles of known durations.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/base/rng.hpp"
#include "core/lifetime/floating.hpp"
#include "core/lifetime/heap.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

// A quantile is the upper edge of its bucket: not below the true value, at most an eighth above.
void check_near(std::uint64_t found, std::uint64_t exact)
{
    CHECK(found >= exact);
    CHECK(static_cast<double>(found) <= static_cast<double>(exact) * 1.125);
}

// The smallest value that so many hundredths of all do not exceed.
std::uint64_t quantile(std::vector<std::uint64_t> values, std::uint64_t hundredths)
{
    std::ranges::sort(values);
    return values[(values.size() * hundredths + 99) / 100 - 1];
}

void check_summary(const std::vector<std::uint64_t>& durations)
{
    ReleaseLatency latency;
    for (const std::uint64_t duration : durations) {
        latency.record(duration);
    }
    const LatencySummary summary = latency.summary();
    CHECK(summary.count == durations.size());
    check_near(summary.median_ns, quantile(durations, 50));
    check_near(summary.p95_ns, quantile(durations, 95));
    CHECK(summary.max_ns == *std::ranges::max_element(durations));
}

}  // namespace

TEST_CASE("release latency: nothing recorded is no latency", "[unit]")
{
    ReleaseLatency latency;
    CHECK(latency.summary().count == 0);
    CHECK(latency.summary().max_ns == 0);
    latency.record(7);
    latency.reset();
    CHECK(latency.summary().count == 0);
    CHECK(latency.summary().median_ns == 0);
    CHECK(latency.summary().max_ns == 0);
}

TEST_CASE("release latency: a single duration is every quantile, exactly", "[unit]")
{
    std::vector<std::uint64_t> durations{0, 1, 7, 8, 9, 15, 16, 17, 1'000'000'007, ~std::uint64_t{0}};
    for (unsigned bit = 0; bit < 64; ++bit) {
        durations.push_back(std::uint64_t{1} << bit);
        durations.push_back((std::uint64_t{1} << bit) - 1);
    }
    for (const std::uint64_t duration : durations) {
        ReleaseLatency latency;
        latency.record(duration);
        CHECK(latency.summary().median_ns == duration);
        CHECK(latency.summary().p95_ns == duration);
        CHECK(latency.summary().max_ns == duration);
    }
}

TEST_CASE("release latency: quantiles of known durations, at most an eighth too high", "[unit]")
{
    std::vector<std::uint64_t> even;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        even.push_back(i * 1000);
    }
    check_summary(even);
    check_summary({5, 5, 5, 5});
    check_summary({1, 1'000'000});
    check_summary({0, 0, 0, 1'000'000'000'000});
    std::vector<std::uint64_t> tail(95, 100);
    tail.insert(tail.end(), 5, 1'000'000);
    check_summary(tail);  // the 95th of 100 is still short
    tail.pop_back();
    tail.push_back(1'000'000);
    tail.front() = 1'000'000;
    check_summary(tail);
}

TEST_CASE("release latency: quantiles of random durations over twelve orders of magnitude", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    base::Rng rng{seed};
    for (int round = 0; round < 200; ++round) {
        std::vector<std::uint64_t> durations;
        const std::uint64_t count = 1 + rng.below(300);
        for (std::uint64_t i = 0; i < count; ++i) {
            durations.push_back(rng.below(std::uint64_t{1} << (1 + rng.below(40))));
        }
        check_summary(durations);
    }
}

TEST_CASE("release latency: recorded by eight threads, all are counted", "[unit]")
{
    ReleaseLatency latency;
    tests::in_parallel(8, [&](std::size_t number) {
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            latency.record(i * 8 + number);
        }
    });
    CHECK(latency.summary().count == 80'000);
    CHECK(latency.summary().max_ns == 79'999);
    check_near(latency.summary().median_ns, 39'999);
}

TEST_CASE("release latency: one for each block that was freed late, none for one that was not", "[unit]")
{
    using enum model::ReleaseMode;
    for (const model::ReleaseMode mode : {refcount, finalizer, sweep, deferred_batch, leak, pool}) {
        INFO(model::name_of(mode));
        tests::TrackingResource resource;
        Heap heap{resource, {.mode = mode}};
        for (int i = 0; i < 100; ++i) {
            static_cast<void>(heap.allocate(8, 8, false));
        }
        heap.collect();
        heap.drain();
        const bool late = mode == finalizer || mode == sweep || mode == deferred_batch;
        const LatencySummary latency = heap.stats().release_latency;
        CHECK(latency.count == (late ? 100U : 0U));
        CHECK(latency.median_ns <= latency.p95_ns);
        CHECK(latency.p95_ns <= latency.max_ns);
    }
}

}  // namespace memsweep::lifetime
