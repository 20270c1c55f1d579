// What each discipline alone promises: when, in which order and by which thread memory is freed.
#include <chrono>
#include <thread>
#include <vector>

#include "core/lifetime/disciplines.hpp"
#include "core/lifetime/heap.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;
using model::ReleaseSpec;

constexpr ReleaseSpec finalizer{.mode = ReleaseMode::finalizer};

void* make_and_drop(Heap& heap, std::uint64_t bytes = 100)
{
    return heap.allocate(bytes, 16, false).buffer.data();
}

ReleaseSpec batch_of(std::uint64_t batch)
{
    return {.mode = ReleaseMode::deferred_batch, .batch = batch};
}

}  // namespace

TEST_CASE("refcount: freed at the drop, by the dropping thread; a collection finds nothing", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {}};
    make_and_drop(heap);
    CHECK(resource.live_bytes() == 0);
    CHECK(resource.freeing_threads().back() == std::this_thread::get_id());
    heap.collect();
    heap.drain();
    CHECK(heap.stats().collections == 0);
    CHECK(heap.stats().floating_bytes_peak == 0);
}

TEST_CASE("cycle by counts: what was reachable at a young collection waits for one that looks at older ones", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::cycle, .cycle = {.generation0 = 2, .generation1 = 1}}};
    Heap::Result held = heap.allocate(1000, 16, false);
    make_and_drop(heap, 1);
    make_and_drop(heap, 20);  // the third container: a collection of the young, which this one is through already
    CHECK(heap.stats().collections == 1);
    CHECK(resource.live_bytes() == 1020);
    held.buffer = {};
    make_and_drop(heap, 2);
    make_and_drop(heap, 300);  // the next young collection
    CHECK(heap.stats().collections == 2);
    CHECK(resource.live_bytes() == 1320);
    make_and_drop(heap, 3);
    make_and_drop(heap, 4);  // and one of two generations
    CHECK(heap.stats().collections == 3);
    CHECK(resource.live_bytes() == 4);
    heap.collect();
    CHECK(resource.live_bytes() == 0);
}

TEST_CASE("deferred batch: every Nth drop frees all N, in the dropping thread", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, batch_of(4)};
    std::vector<void*> dropped;
    for (std::size_t i = 1; i <= 12; ++i) {
        dropped.push_back(make_and_drop(heap));
        CHECK(resource.freed().size() == i / 4 * 4);
        CHECK(heap.stats().floating_blocks == i % 4);
    }
    CHECK(resource.freed() == dropped);
    for (const std::thread::id thread : resource.freeing_threads()) {
        CHECK(thread == std::this_thread::get_id());
    }
    CHECK(heap.stats().floating_bytes_peak == 400);
}

TEST_CASE("deferred batch: collect and drain each free what waits, and the next batch is a whole one", "[unit]")
{
    for (const bool collects : {true, false}) {
        tests::TrackingResource resource;
        Heap heap{resource, batch_of(4)};
        make_and_drop(heap);
        make_and_drop(heap);
        collects ? heap.collect() : heap.drain();
        CHECK(resource.freed().size() == 2);
        for (int i = 0; i < 3; ++i) {
            make_and_drop(heap);
        }
        CHECK(resource.freed().size() == 2);
        make_and_drop(heap);
        CHECK(resource.freed().size() == 6);
        CHECK(heap.stats().collections == (collects ? 1U : 0U));
    }
}

TEST_CASE("leak: nothing is ever freed and all of it floats", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::leak}};
    for (std::uint64_t i = 1; i <= 10; ++i) {
        make_and_drop(heap);
        heap.collect();
        heap.drain();
        CHECK(heap.stats().floating_bytes == 100 * i);
        CHECK(heap.stats().floating_blocks == i);
    }
    CHECK(resource.freed().empty());
}

TEST_CASE("finalizer: a drop alone is not found, and draining does not look for it", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, finalizer};
    for (int i = 0; i < 5; ++i) {
        make_and_drop(heap);
    }
    heap.drain();
    CHECK(resource.live_bytes() == 500);
    const DisciplineStats stats = heap.stats();
    CHECK(stats.floating_bytes == 500);
    CHECK(stats.floating_blocks == 5);
    CHECK(stats.queue_depth == 0);
    CHECK(stats.collections == 0);
}

TEST_CASE("finalizer: a collection queues, the thread frees in order, draining waits for it", "[unit]")
{
    tests::TrackingResource resource;
    tests::Gate gate;
    resource.before_free = [&gate](void*) { gate.wait(); };
    Heap heap{resource, finalizer};
    std::vector<void*> dropped;
    for (int i = 0; i < 20; ++i) {
        dropped.push_back(make_and_drop(heap));
        if (i % 7 == 6) {
            heap.collect();
        }
    }
    heap.collect();
    // The finalizer is stuck in its first free.
    CHECK(resource.live_bytes() == 2000);
    CHECK(heap.stats().queue_depth == 20);
    CHECK(heap.stats().floating_blocks == 20);
    CHECK(heap.stats().collections == 3);
    std::atomic<bool> drained{false};
    std::thread drainer{[&] {
        heap.drain();
        drained = true;
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    CHECK_FALSE(drained);
    gate.open();
    drainer.join();
    CHECK(resource.freed() == dropped);
    for (const std::thread::id thread : resource.freeing_threads()) {
        CHECK(thread != std::this_thread::get_id());
    }
    const DisciplineStats stats = heap.stats();
    CHECK(stats.queue_depth == 0);
    CHECK(stats.floating_bytes == 0);
    CHECK(stats.queue_depth_peak == 20);
    CHECK(stats.floating_bytes_peak == 2000);
}

TEST_CASE("finalizer: draining waits only for what was found before it", "[unit]")
{
    tests::TrackingResource resource;
    tests::Gate gate;
    std::atomic<void*> blocking{nullptr};
    resource.before_free = [&](void* ptr) {
        if (ptr == blocking) {
            gate.wait();
        }
    };
    {
        Heap heap{resource, finalizer};
        make_and_drop(heap);
        heap.collect();
        heap.drain();
        blocking = make_and_drop(heap);  // dropped, not found
        heap.drain();
        CHECK(heap.stats().floating_blocks == 1);
        gate.open();
    }
    CHECK(resource.live_bytes() == 0);
}

TEST_CASE("finalizer: with several threads, draining waits for the slowest", "[unit]")
{
    tests::TrackingResource resource;
    tests::Gate gate;
    std::atomic<void*> slow{nullptr};
    std::atomic<int> others{0};
    resource.before_free = [&](void* ptr) {
        if (ptr == slow) {
            gate.wait();
        } else {
            ++others;
        }
    };
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .finalizer_threads = 3}};
    slow = make_and_drop(heap);
    for (int i = 0; i < 50; ++i) {
        make_and_drop(heap);
    }
    heap.collect();
    std::atomic<bool> drained{false};
    std::thread drainer{[&] {
        heap.drain();
        drained = true;
    }};
    while (others < 50 || heap.stats().queue_depth > 1) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK_FALSE(drained);  // 50 later blocks are done, the first is not
    CHECK(resource.live_bytes() == 100);
    make_and_drop(heap);
    heap.collect();
    while (others < 51 || heap.stats().queue_depth > 1) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK_FALSE(drained);  // as many blocks are done as were found before it, but not the same ones
    gate.open();
    drainer.join();
    CHECK(resource.live_bytes() == 0);
}

TEST_CASE("finalizer: several threads drain at different depths", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .finalizer_threads = 2}};
    std::atomic<int> early{0};
    tests::in_parallel(4, [&](std::size_t) {
        for (int i = 0; i < 300; ++i) {
            void* const mine = make_and_drop(heap, 8);
            heap.collect();
            heap.drain();
            // Freed memory carries the resource's pattern, and is kept so that it can be looked at.
            early += *static_cast<unsigned char*>(mine) == tests::TrackingResource::freed_pattern ? 0 : 1;
        }
    });
    CHECK(early == 0);
    CHECK(resource.live_bytes() == 0);
}

TEST_CASE("finalizer: no wake-up is missed in 5,000 single collections", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, finalizer};
    for (int i = 0; i < 5000; ++i) {
        make_and_drop(heap, 8);
        heap.collect();
        heap.drain();
        REQUIRE(resource.live_bytes() == 0);
    }
}

TEST_CASE("finalizer: collect_every counts allocations since the last collection, of either kind", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .collect_every = 10}};
    for (std::uint64_t i = 0; i < 35; ++i) {
        make_and_drop(heap);
        CHECK(heap.stats().collections == i / 10);  // before the 11th, the 21st, the 31st
    }
    heap.collect();
    CHECK(heap.stats().collections == 4);
    for (int i = 0; i < 10; ++i) {
        make_and_drop(heap);
    }
    CHECK(heap.stats().collections == 4);
    make_and_drop(heap);
    CHECK(heap.stats().collections == 5);
}

TEST_CASE("finalizer: gated, the allocation that collects is made with nothing left to free", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .gated = true, .collect_every = 10}};
    for (std::uint64_t i = 0; i < 100; ++i) {
        const Buffer buffer = heap.allocate(100, 16, false).buffer;
        REQUIRE(resource.live_bytes() == 100 * (i % 10 + 1));
    }
}

TEST_CASE("finalizer: with eight allocating threads the trigger fires once per N allocations", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .collect_every = 50}};
    tests::in_parallel(8, [&](std::size_t) {
        for (int i = 0; i < 500; ++i) {
            make_and_drop(heap, 8);
        }
    });
    CHECK(heap.stats().collections == 79);  // 4000 allocations; none after the last 50
}

TEST_CASE("finalizer: each release takes at least the time it is said to", "[machine]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::finalizer, .release_cost_ns = 1'000'000}};
    for (int i = 0; i < 20; ++i) {
        make_and_drop(heap);
    }
    const auto before = std::chrono::steady_clock::now();
    heap.collect();
    heap.drain();
    CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds{20});
}

TEST_CASE("finalizer: a missed disposal is reclaimed by collect and drain", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, finalizer};
    {
        const Buffer never_reset = heap.allocate(100, 16, false).buffer;
        const Buffer view = never_reset;
    }
    CHECK(resource.live_bytes() == 100);
    heap.collect();
    heap.drain();
    CHECK(resource.live_bytes() == 0);
}

TEST_CASE("pool: what lies outside its window of sizes bypasses it", "[unit]")
{
    ReleaseSpec spec{.mode = ReleaseMode::pool};
    spec.cache.from_bytes = 4096;
    spec.cache.below_bytes = 1'000'000;
    for (const auto& [bytes, kept] : {std::pair{4095U, false},
                                      {4096U, true},
                                      {600'000U, true},  // the last class ends with the window
                                      {999'999U, true},
                                      {1'000'000U, false},
                                      {1U << 20U, false}}) {
        INFO(bytes);
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        make_and_drop(heap, bytes);
        CHECK((resource.live_bytes() != 0) == kept);
        make_and_drop(heap, bytes);
        CHECK(heap.stats().cache_hits == (kept ? 1 : 0));
        CHECK(heap.stats().cache_misses == (kept ? 1 : 2));
    }
}

TEST_CASE("a place on the stack that is being made ready is not popped by a drop meanwhile", "[unit]")
{
    tests::TrackingResource resource;
    BlockSlab slab;
    Reclaimer reclaimer{resource, slab};
    const std::unique_ptr<Discipline> discipline = make_stack({.mode = model::ReleaseMode::stack}, reclaimer);
    Discipline& stack = *discipline;
    Block& being_made = *slab.acquire();  // by another thread, which has not begun it yet
    REQUIRE(stack.acquire(being_made, 64, 16, false) == memory::AllocStatus::ok);
    Block& above = *slab.acquire();
    REQUIRE(stack.acquire(above, 64, 16, false) == memory::AllocStatus::ok);
    begin(above);
    REQUIRE(drop_handle(above).last);
    stack.unreachable(above);
    Block& next = *slab.acquire();
    REQUIRE(stack.acquire(next, 64, 16, false) == memory::AllocStatus::ok);
    CHECK(&next != &being_made);
    CHECK(next.data != being_made.data);
}

}  // namespace memsweep::lifetime
