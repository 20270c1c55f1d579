// What a pool gives back by itself, pass by pass on an invented clock.
#include <chrono>
#include <thread>
#include <vector>

#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/clock.hpp"
#include "core/memory/pool_maintenance.hpp"
#include "tests/memory/pool_specs.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::memory {
namespace {

using tests::store_only;

constexpr std::int64_t second_ns = 1'000'000'000;

PressureGauges calm()
{
    return {[] { return std::optional<double>{}; }, [] { return std::optional<double>{}; }};
}

struct MaintainedPool {
    explicit MaintainedPool(const model::PoolSpec& spec, PressureGauges gauges = calm())
        : pool{spec, counted}, maintenance{pool, spec, std::move(gauges)}
    {
    }

    void leave_idle(int blocks)
    {
        std::vector<void*> held;
        for (int i = 0; i < blocks; ++i) {
            held.push_back(pool.allocate(1024, 16).ptr);
        }
        for (void* const one : held) {
            pool.deallocate(one, 1024, 16);
        }
    }

    NullResource null;
    Counters upstream;
    CountingAdaptor counted{null, upstream};
    ClassPool pool;
    PoolMaintenance maintenance;
};

}  // namespace

TEST_CASE("maintenance: a pass trims to its share", "[unit]")
{
    model::PoolSpec spec = store_only();
    spec.trim_to = 0.5;
    MaintainedPool rig{spec};
    rig.leave_idle(16);
    CHECK(rig.maintenance.pass(steady_ns()) == 8 * 1024);
    CHECK(rig.maintenance.pass(steady_ns()) == 4 * 1024);
    CHECK(rig.maintenance.passes() == 2);
    CHECK(rig.upstream.live_bytes() == 4 * 1024);
}

TEST_CASE("maintenance: what lay idle beyond its lifetime goes", "[unit]")
{
    model::PoolSpec spec = store_only();
    spec.lifetime_ns = 10 * second_ns;
    MaintainedPool rig{spec};
    rig.leave_idle(3);
    CHECK(rig.maintenance.pass(steady_ns() + 9 * second_ns) == 0);
    CHECK(rig.maintenance.pass(steady_ns() + 11 * second_ns) == 3 * 1024);
    CHECK(rig.upstream.live_bytes() == 0);
}

TEST_CASE("maintenance: what a depot did not need since the last pass begins to age", "[unit]")
{
    model::PoolSpec spec = store_only();
    spec.depot_blocks = 100;
    spec.lifetime_ns = 10 * second_ns;
    MaintainedPool rig{spec};
    rig.leave_idle(5);
    CHECK(rig.maintenance.pass(steady_ns() + 20 * second_ns) == 0);  // none: it sees for the first time what is unused
    CHECK(rig.maintenance.pass(steady_ns()) == 0);                   // now it ages
    CHECK(rig.maintenance.pass(steady_ns() + 20 * second_ns) == 5 * 1024);
}

TEST_CASE("maintenance: short memory empties the pool, whichever gauge says so", "[unit]")
{
    for (const bool by_stalls : {true, false}) {
        model::PoolSpec spec = store_only();
        double stalled = 0;
        double share = 0;
        (by_stalls ? spec.pressure : spec.cgroup_share) = by_stalls ? 5 : 0.9;
        MaintainedPool rig{spec, {[&] { return std::optional{stalled}; }, [&] { return std::optional{share}; }}};
        rig.leave_idle(10);
        stalled = 4.9;
        share = 0.89;
        CHECK(rig.maintenance.pass(steady_ns()) == 0);
        (by_stalls ? stalled : share) = by_stalls ? 5 : 0.9;
        CHECK(rig.maintenance.pass(steady_ns()) == 10 * 1024);
    }
}

TEST_CASE("maintenance: a thread of its own makes counted passes", "[machine]")
{
    model::PoolSpec spec = store_only();
    spec.trim_to = 0;
    spec.trim_interval_ns = 1'000'000;
    MaintainedPool rig{spec};
    rig.leave_idle(10);
    const auto before = rig.maintenance.passes();  // it may have made many by now
    while (rig.maintenance.passes() < before + 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    CHECK(rig.upstream.live_bytes() == 0);
}

TEST_CASE("decay: everything may stay at first, half after half the time, nothing at the end", "[unit]")
{
    SmoothDecay decay{static_cast<std::uint64_t>(10 * second_ns), 0};
    constexpr std::uint64_t idle = 1'000'000;
    CHECK(decay.limit(0, idle) == idle);
    std::uint64_t kept = idle;
    std::uint64_t at_half = 0;
    for (std::int64_t tick = 1; tick <= 210; ++tick) {
        const std::uint64_t limit = decay.limit(tick * 10 * second_ns / SmoothDecay::steps, kept);
        REQUIRE(limit <= kept);
        kept = limit;
        at_half = tick == 101 ? kept : at_half;
    }
    CHECK(at_half > idle * 45 / 100);
    CHECK(at_half < idle * 55 / 100);
    CHECK(kept == 0);
}

TEST_CASE("decay: memory that is used again does not fade", "[unit]")
{
    SmoothDecay decay{static_cast<std::uint64_t>(10 * second_ns), 0};
    CHECK(decay.limit(1 * second_ns, 1000) == 1000);
    CHECK(decay.limit(20 * second_ns, 0) == 0);
    CHECK(decay.limit(21 * second_ns, 1000) == 1000);
}

}  // namespace memsweep::memory
