// The cap on direct buffers: what fits, what waits for what, and what is refused after how many sleeps.
#include <chrono>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/lifetime/reserve_cap.hpp"
#include "core/memory/allocator_resources.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t buffer_bytes = 8'000'000;

const auto no_progress = [] { return false; };

int reserved_before_refusal(ReserveCap& cap)
{
    int fitted = 0;
    while (cap.reserve(buffer_bytes, no_progress, [] {})) {
        ++fitted;
    }
    return fitted;
}

}  // namespace

TEST_CASE("reserve cap: 1 GiB holds 134 buffers of 8 MB; the next is refused after nine sleeps, 511 ms", "[unit]")
{
    ReserveCap cap{{.bytes = gib, .explicit_gc = false}};
    const auto before = std::chrono::steady_clock::now();
    CHECK(reserved_before_refusal(cap) == 134);
    CHECK(cap.sleeps() == 9);
    CHECK(cap.slept_ns() >= 511'000'000);
    CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds{511});
}

TEST_CASE("reserve cap: the sleeps double, from the first on, as many as it is said", "[unit]")
{
    for (const std::uint32_t sleeps : {0U, 1U, 5U}) {
        ReserveCap cap{{.bytes = 10, .explicit_gc = false, .sleeps = sleeps, .first_sleep_ns = 100'000}};
        CHECK_FALSE(cap.reserve(11, no_progress, [] {}));
        CHECK(cap.sleeps() == sleeps);
        CHECK(cap.slept_ns() >= ((1U << sleeps) - 1) * 100'000ULL);
        cap.reset_counts();
        CHECK(cap.sleeps() == 0);
        CHECK(cap.slept_ns() == 0);
    }
}

TEST_CASE("reserve cap: the cap itself fits, one byte more does not; what is given back fits again", "[unit]")
{
    ReserveCap cap{{.bytes = 1000, .explicit_gc = false, .sleeps = 0}};
    CHECK(cap.reserve(1000, no_progress, [] {}));
    CHECK_FALSE(cap.reserve(1, no_progress, [] {}));
    CHECK(cap.reserve(0, no_progress, [] {}));
    cap.unreserve(1);
    CHECK(cap.reserve(1, no_progress, [] {}));
    CHECK_FALSE(cap.reserve(~std::uint64_t{0}, no_progress, [] {}));
}

TEST_CASE("reserve cap: without a cap nothing is counted, waited for or collected", "[unit]")
{
    ReserveCap cap{{}};
    int asked = 0;
    const auto progress = [&asked] { return ++asked > 0; };
    for (int i = 0; i < 100; ++i) {
        CHECK(cap.reserve(~std::uint64_t{0}, progress, [&asked] { ++asked; }));
    }
    CHECK(asked == 0);
}

TEST_CASE("reserve cap: first it waits for what is being released, then it collects, and only then it sleeps", "[unit]")
{
    std::vector<char> events;
    ReserveCap cap{{.bytes = 100, .sleeps = 2, .first_sleep_ns = 1000}};
    REQUIRE(cap.reserve(100, no_progress, [] {}));
    int releases = 2;  // under way, of too little
    const auto progress = [&] {
        events.push_back(releases > 0 ? 'p' : '-');
        if (releases == 0) {
            return false;
        }
        --releases;
        cap.unreserve(10);
        return true;
    };
    // The collection finds two releases more: 20 + 20 bytes of the 50 wanted.
    CHECK_FALSE(cap.reserve(50, progress, [&] {
        events.push_back('c');
        releases = 2;
    }));
    CHECK(events == std::vector<char>{'p', 'p', '-', 'c', 'p', 'p', '-', '-'});
    CHECK(cap.sleeps() == 2);
    CHECK(cap.reserve(40, progress, [] {}));
}

TEST_CASE("reserve cap: with a collection that frees, nobody sleeps", "[unit]")
{
    ReserveCap cap{{.bytes = gib}};
    std::uint64_t garbage = 0;
    int collections = 0;
    for (int i = 0; i < 500; ++i) {
        REQUIRE(cap.reserve(buffer_bytes, no_progress, [&] {
            ++collections;
            cap.unreserve(std::exchange(garbage, 0));
        }));
        garbage += buffer_bytes;
    }
    CHECK(collections == 3);  // before buffers 134, 268 and 402, counted from 0
    CHECK(cap.sleeps() == 0);
}

TEST_CASE("cleaner: garbage up to the cap, then a collection whenever it is reached", "[unit]")
{
    memory::NullResource null;
    Heap heap{null, {.mode = model::ReleaseMode::cleaner, .cap = {.bytes = gib}}};
    for (std::uint64_t i = 0; i < 500; ++i) {
        REQUIRE(heap.allocate(buffer_bytes, 16, false).status == memory::AllocStatus::ok);
        CHECK(heap.stats().collections == i / 134);
    }
    CHECK(heap.stats().floating_bytes_peak <= gib);
    heap.collect();
    heap.drain();
    CHECK(heap.stats().floating_bytes == 0);
    // All of the cap is free again.
    std::vector<Buffer> held(134);
    for (Buffer& one : held) {
        one = heap.allocate(buffer_bytes, 16, false).buffer;
        REQUIRE(one);
    }
}

TEST_CASE("cleaner: without explicit collections the 135th buffer is refused, garbage or not", "[unit]")
{
    for (const bool holds : {true, false}) {
        memory::NullResource null;
        Heap heap{
            null,
            {.mode = model::ReleaseMode::cleaner, .cap = {.bytes = gib, .explicit_gc = false, .first_sleep_ns = 1000}}};
        std::vector<Buffer> held(134);
        for (Buffer& one : held) {
            auto made = heap.allocate(buffer_bytes, 16, false);
            REQUIRE(made.status == memory::AllocStatus::ok);
            if (holds) {
                one = std::move(made.buffer);
            }
        }
        CHECK(heap.allocate(buffer_bytes, 16, false).status == memory::AllocStatus::over_limit);
        CHECK(heap.stats().stalls == 9);
        CHECK(heap.stats().stall_ns >= 511'000);
        CHECK(heap.stats().collections == 0);
        // The program's own collection frees what it can.
        held.clear();
        heap.collect();
        heap.drain();
        CHECK(heap.allocate(buffer_bytes, 16, false).status == memory::AllocStatus::ok);
    }
}

TEST_CASE("cleaner: memory freed early is below the cap again at once", "[unit]")
{
    memory::NullResource null;
    Heap heap{null,
              {.mode = model::ReleaseMode::unsafe_free,
               .fallback = model::Fallback::cleaner,
               .cap = {.bytes = gib, .explicit_gc = false, .sleeps = 0}}};
    for (int i = 0; i < 500; ++i) {
        auto made = heap.allocate(buffer_bytes, 16, false);
        REQUIRE(made.status == memory::AllocStatus::ok);
        CHECK(heap.free(made.buffer) == ManualFree::done);
    }
    CHECK(heap.stats().freed_early == 500);
    CHECK(heap.stats().collections == 0);
}

}  // namespace memsweep::lifetime
