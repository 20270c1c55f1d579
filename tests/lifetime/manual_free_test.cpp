// Frees by hand: when they are done, left to others or refused, who frees the rest, and which collections they spare.
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/memory/allocator_resources.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

using model::Fallback;
using model::ReleaseMode;
using model::ReleaseSpec;
using tests::make_buffer;

}  // namespace

TEST_CASE("a free by hand frees at the call, by the caller, and the handle stays", "[unit]")
{
    for (const ReleaseSpec& spec :
         {ReleaseSpec{.mode = ReleaseMode::explicit_free}, ReleaseSpec{.mode = ReleaseMode::must_free},
          ReleaseSpec{.mode = ReleaseMode::unsafe_free}, ReleaseSpec{.mode = ReleaseMode::finalize_now},
          ReleaseSpec{.fallback = Fallback::finalizer},
          ReleaseSpec{.mode = ReleaseMode::unsafe_free, .fallback = Fallback::sweep}}) {
        INFO(model::name_of(spec.mode));
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        Buffer buffer = make_buffer(heap, 100);
        CHECK(heap.accessible(buffer));
        CHECK(heap.free(buffer) == ManualFree::done);
        CHECK(resource.live_bytes() == 0);
        CHECK(resource.freeing_threads().back() == std::this_thread::get_id());
        CHECK(buffer.is_freed());
        CHECK(buffer.use_count() == 1);
        CHECK_FALSE(heap.accessible(buffer));
        CHECK(heap.stats().freed_early == 1);
        buffer.reset();
        CHECK(heap.stats().floating_blocks == 0);
        CHECK(resource.freed().size() == 1);
        CHECK(resource.wrong_frees() == 0);
    }
}

TEST_CASE("a second free frees nothing; it is an error where the program must free exactly once", "[unit]")
{
    const auto second_free = [](const ReleaseSpec& spec, ManualFree expected) {
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        Buffer buffer = make_buffer(heap, 100);
        CHECK(heap.free(buffer) == ManualFree::done);
        for (int i = 0; i < 3; ++i) {
            CHECK(heap.free(buffer) == expected);
        }
        CHECK(resource.wrong_frees() == 0);
        CHECK(heap.stats().freed_early == 1);
    };
    second_free({.mode = ReleaseMode::explicit_free}, ManualFree::twice);
    second_free({.mode = ReleaseMode::must_free}, ManualFree::twice);
    second_free({.mode = ReleaseMode::unsafe_free}, ManualFree::disregarded);
    second_free({.fallback = Fallback::finalizer}, ManualFree::disregarded);
}

TEST_CASE("while other handles exist: explicit frees, unsafe_free leaves it to them, must_free refuses", "[unit]")
{
    const auto freed_when_shared = [](const ReleaseSpec& spec, ManualFree expected) {
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        Buffer buffer = make_buffer(heap, 100);
        Buffer other = buffer;
        CHECK(heap.free(buffer) == expected);
        const bool freed = resource.live_bytes() == 0;
        other.reset();
        CHECK(resource.live_bytes() == (freed ? 0U : 100U));
        CHECK(heap.free(buffer) == (freed ? ManualFree::twice : ManualFree::done));
        CHECK(resource.live_bytes() == 0);
        CHECK(resource.wrong_frees() == 0);
        return freed;
    };
    CHECK(freed_when_shared({.mode = ReleaseMode::explicit_free}, ManualFree::done));
    CHECK_FALSE(freed_when_shared({.mode = ReleaseMode::unsafe_free}, ManualFree::kept));
    CHECK_FALSE(freed_when_shared({.fallback = Fallback::finalizer}, ManualFree::kept));
    CHECK_FALSE(freed_when_shared({.mode = ReleaseMode::must_free}, ManualFree::aliased));
}

TEST_CASE("what the program forgets is lost, or its fallback's", "[unit]")
{
    const auto left_after = [](const ReleaseSpec& spec) {
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        for (int i = 0; i < 10; ++i) {
            Buffer buffer = make_buffer(heap, 100);
            if (i % 2 == 0) {
                heap.free(buffer);
            }
        }
        CHECK(heap.stats().floating_bytes == 500);
        CHECK(resource.live_bytes() == 500);
        heap.collect();
        heap.drain();
        CHECK(heap.stats().floating_bytes == resource.live_bytes());
        return resource.live_bytes();
    };
    CHECK(left_after({.mode = ReleaseMode::explicit_free}) == 500);
    CHECK(left_after({.mode = ReleaseMode::must_free}) == 500);
    for (const Fallback fallback : {Fallback::finalizer, Fallback::cleaner, Fallback::sweep, Fallback::cycle}) {
        INFO(model::name_of(fallback));
        CHECK(left_after({.mode = ReleaseMode::unsafe_free, .fallback = fallback}) == 0);
        CHECK(left_after({.mode = ReleaseMode::explicit_free, .fallback = fallback}) == 0);
        CHECK(left_after({.mode = ReleaseMode::finalize_now, .fallback = fallback}) == 0);
    }
}

TEST_CASE("a fraction of the frees is carried out, evenly", "[unit]")
{
    for (const auto& [fraction, expected] :
         {std::pair{0.0, 0}, std::pair{0.25, 25}, std::pair{0.5, 50}, std::pair{0.99, 99}, std::pair{1.0, 100}}) {
        tests::TrackingResource resource;
        Heap heap{resource, {.mode = ReleaseMode::unsafe_free, .fallback = Fallback::sweep, .free_fraction = fraction}};
        int done = 0;
        for (int i = 1; i <= 100; ++i) {
            Buffer buffer = make_buffer(heap, 100);
            done += heap.free(buffer) == ManualFree::done ? 1 : 0;
            REQUIRE(std::abs(done - i * fraction) <= 0.5);
        }
        CHECK(done == expected);
        CHECK(heap.stats().freed_early == static_cast<std::uint64_t>(expected));
        CHECK(heap.stats().floating_blocks == static_cast<std::uint64_t>(100 - expected));
    }
}

TEST_CASE("frees that are disregarded free nothing, and a collector has all", "[unit]")
{
    for (const auto mode :
         {ReleaseMode::explicit_free, ReleaseMode::must_free, ReleaseMode::unsafe_free, ReleaseMode::finalize_now}) {
        for (const Fallback fallback : {Fallback::none, Fallback::finalizer, Fallback::sweep}) {
            tests::TrackingResource resource;
            Heap heap{resource, {.mode = mode, .fallback = fallback, .safety = {.ignore_manual_free = true}}};
            Buffer buffer = make_buffer(heap, 100);
            CHECK(heap.free(buffer) == ManualFree::disregarded);
            CHECK(heap.free(buffer) == ManualFree::disregarded);
            CHECK(heap.accessible(buffer));
            CHECK(resource.live_bytes() == 100);
            buffer.reset();
            CHECK(resource.live_bytes() == 100);
            heap.collect();
            heap.drain();
            CHECK(resource.live_bytes() == 0);
            CHECK(heap.stats().freed_early == 0);
        }
    }
}

TEST_CASE("modes without manual frees disregard them", "[unit]")
{
    for (const auto& mode : model::names<model::ReleaseMode>()) {
        const ReleaseSpec spec{.mode = mode.value};
        if (model::frees_manually(spec)) {
            continue;
        }
        INFO(mode.name);
        tests::TrackingResource resource;
        Heap heap{resource, spec};
        Buffer buffer = make_buffer(heap, 100);
        std::memset(buffer.data(), 0x11, 100);
        CHECK(heap.free(buffer) == ManualFree::disregarded);
        CHECK(heap.accessible(buffer));
        CHECK(static_cast<unsigned char*>(buffer.data())[99] == 0x11);
        CHECK(resource.freed().empty());
    }
}

TEST_CASE("under detection by null a free clears the pointer it went through, and no other", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = ReleaseMode::explicit_free, .safety = {.detect = model::Detection::null}}};
    Buffer buffer = make_buffer(heap, 100);
    const Buffer other = buffer;
    CHECK(heap.free(buffer) == ManualFree::done);
    CHECK(buffer.data() == nullptr);
    CHECK_FALSE(heap.accessible(buffer));
    CHECK(other.data() != nullptr);
}

TEST_CASE("fifty threads free one buffer: one of them does", "[unit]")
{
    for (const auto mode : {ReleaseMode::explicit_free, ReleaseMode::unsafe_free, ReleaseMode::finalize_now}) {
        tests::TrackingResource resource;
        Heap heap{resource, {.mode = mode}};
        for (int round = 0; round < 20; ++round) {
            Buffer buffer = make_buffer(heap, 100);
            std::atomic<int> done{0};
            tests::in_parallel(50, [&](std::size_t) { done += heap.free(buffer) == ManualFree::done ? 1 : 0; });
            REQUIRE(done == 1);
        }
        CHECK(resource.freed().size() == 20);
        CHECK(resource.wrong_frees() == 0);
    }
}

TEST_CASE("early frees spare collections: as many as the same program had without them", "[unit]")
{
    // A device of 1000 bytes: without frees a collection before every eighth array of 100, the first before array 8.
    const model::Pressure device{.rule = model::PressureRule::cuda, .capacity = 1000};
    const auto run = [&](model::ReleaseMode mode, double fraction, Fallback fallback) {
        memory::NullResource null;
        Heap heap{null, {.mode = mode, .fallback = fallback, .free_fraction = fraction, .pressure = device}};
        for (int i = 0; i < 100; ++i) {
            Buffer buffer = make_buffer(heap, 100);
            heap.free(buffer);
        }
        return heap.stats();
    };
    const DisciplineStats early = run(ReleaseMode::unsafe_free, 1, Fallback::sweep);
    CHECK(early.collections == 0);
    CHECK(early.collections_avoided == 12);  // before arrays 8, 16, ... 96
    CHECK(early.freed_early == 100);
    const DisciplineStats none = run(ReleaseMode::unsafe_free, 0, Fallback::sweep);
    CHECK(none.collections >= 1);
    CHECK(none.collections + none.collections_avoided >= 12);
    CHECK(none.freed_early == 0);
    // A finalizer's program has the same collections to spare.
    CHECK(run(ReleaseMode::unsafe_free, 1, Fallback::finalizer).collections_avoided == 12);
}

TEST_CASE("a trigger that counts allocations is spared nothing by early frees", "[unit]")
{
    memory::NullResource null;
    Heap heap{null, {.mode = ReleaseMode::unsafe_free, .fallback = Fallback::sweep, .collect_every = 10}};
    for (int i = 0; i < 100; ++i) {
        Buffer buffer = make_buffer(heap, 100);
        heap.free(buffer);
    }
    CHECK(heap.stats().collections == 9);
    CHECK(heap.stats().collections_avoided == 0);
}

TEST_CASE("a collection that the program asks for is not one it was spared", "[unit]")
{
    memory::NullResource null;
    Heap heap{null,
              {.mode = ReleaseMode::unsafe_free,
               .fallback = Fallback::sweep,
               .pressure = {.rule = model::PressureRule::cuda, .capacity = 1000}}};
    for (int i = 0; i < 16; ++i) {
        Buffer buffer = make_buffer(heap, 100);
        heap.free(buffer);
        heap.collect();
    }
    CHECK(heap.stats().collections == 16);
    CHECK(heap.stats().collections_avoided == 0);  // never more than one array is garbage, freed or not
}

TEST_CASE("arrays that a heap target does not count leave it as it is when they are swept", "[unit]")
{
    memory::NullResource null;
    Heap heap{null, {.mode = ReleaseMode::sweep, .target = {.initial = 10'000}}};
    const Buffer held = make_buffer(heap, 9000);
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(make_buffer(heap, 1000));  // below 2025 bytes: the managed heap's
    }
    heap.collect();
    REQUIRE(heap.stats().floating_bytes == 0);
    const Buffer more = make_buffer(heap, 2500);
    CHECK(heap.stats().collections == 1);
    const Buffer last = make_buffer(heap, 2500);  // 11,500 bytes are past the target
    CHECK(heap.stats().collections == 2);
}

}  // namespace memsweep::lifetime
