// What each adaptor alone promises, and how a stack composes them.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <set>
#include <string>

#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/stack.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::memory {

TEST_CASE("alloc_free: every turn is an allocation and its free, whatever stands on top", "[unit]")
{
    using model::Accounting;
    using model::PoolKind;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, 2 * CallTimes::timed_from_bytes}) {
        for (const auto resource :
             {model::ResourceKind::malloc, model::ResourceKind::null, model::ResourceKind::aligned}) {
            for (const PoolKind pool : {PoolKind::none, PoolKind::classes}) {
                Counters counters;
                model::MemorySpec spec{.resource = resource};
                spec.pool.kind = resource == model::ResourceKind::null ? PoolKind::none : pool;
                ResourceStack stack{spec, counters};
                const AllocFreeTurns turns = stack.alloc_free(bytes, 1000);
                CHECK(turns.done == 1000);
                CHECK(turns.status == AllocStatus::ok);
                CHECK(counters.allocations() == 1000);
                CHECK(counters.deallocations() == 1000);
                CHECK(counters.live_bytes_peak() == bytes);
                CHECK(counters.live_bytes() == 0);

                spec.accounting = Accounting::off;
                ResourceStack uncounted{spec, counters};
                CHECK(uncounted.alloc_free(bytes, 1000).done == 1000);
                CHECK(counters.allocations() == 1000);
            }
        }
    }
}

TEST_CASE("alloc_free: a refusal says what it was and how many turns came before it", "[unit]")
{
    Counters counters;
    ResourceStack failing{{.fail_every = 7}, counters};
    const AllocFreeTurns turns = failing.alloc_free(64, 100);
    CHECK(turns.done == 6);
    CHECK(turns.status == AllocStatus::injected);
    CHECK(counters.live_bytes() == 0);
    CHECK(failing.alloc_free(64, 6).done == 6);

    ResourceStack limited{{.limit_bytes = 1000}, counters};
    CHECK(limited.alloc_free(1000, 5).status == AllocStatus::ok);
    CHECK(limited.alloc_free(1001, 5).status == AllocStatus::over_limit);

    ResourceStack plain{{}, counters};
    CHECK(plain.alloc_free(0, 5).status == AllocStatus::bad_request);
    CHECK(plain.alloc_free(~std::size_t{0}, 5).status == AllocStatus::bad_request);
    CHECK(plain.alloc_free(std::size_t{1} << 60U, 5).status == AllocStatus::out_of_memory);
    CHECK(plain.alloc_free(64, 0).done == 0);
}

TEST_CASE("limiting: the limit itself fits, one byte more does not", "[unit]")
{
    NullResource null;
    LimitingAdaptor limiting{null, 1000};
    const Allocation first = limiting.allocate(600, 1);
    CHECK(first.status == AllocStatus::ok);
    CHECK(limiting.allocate(401, 1).status == AllocStatus::over_limit);
    CHECK(limiting.allocate_zeroed(401, 1).status == AllocStatus::over_limit);
    CHECK(limiting.allocate(~std::size_t{0}, 1).status == AllocStatus::over_limit);
    const Allocation second = limiting.allocate_zeroed(400, 1);
    CHECK(second.status == AllocStatus::ok);
    CHECK(limiting.allocate(1, 1).status == AllocStatus::over_limit);
    limiting.deallocate(first.ptr, 600, 1);
    CHECK(limiting.allocate(600, 1).status == AllocStatus::ok);
}

TEST_CASE("limiting: what the upstream refuses takes no room", "[unit]")
{
    NullResource null;
    FailingAdaptor failing{null, 1};
    LimitingAdaptor limiting{failing, 1000};
    for (int i = 0; i < 10; ++i) {
        CHECK(limiting.allocate(1000, 1).status == AllocStatus::injected);
        CHECK(limiting.allocate_zeroed(1000, 1).status == AllocStatus::injected);
    }
}

namespace {

// Knows the most that was ever live at one instant: one locked addition sees it all, whatever threads do.
class PeakResource final : public MemoryResource {
  public:
    Allocation allocate(std::size_t bytes, std::size_t /*alignment*/) noexcept override
    {
        const std::uint64_t live = live_bytes_.fetch_add(bytes) + bytes;
        std::uint64_t peak = peak_bytes_.load();
        while (live > peak && !peak_bytes_.compare_exchange_weak(peak, live)) {
        }
        return {this, AllocStatus::ok};
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* /*ptr*/, std::size_t bytes, std::size_t /*alignment*/) noexcept override
    {
        live_bytes_.fetch_sub(bytes);
    }
    [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
    [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

  private:
    std::atomic<std::uint64_t> live_bytes_{0};
    std::atomic<std::uint64_t> peak_bytes_{0};
};

}  // namespace

TEST_CASE("limiting: never exceeded, and used to the last block, by eight threads", "[unit]")
{
    PeakResource upstream;
    LimitingAdaptor limiting{upstream, 100 + 99};  // room for one block, so that any two threads race for it
    tests::in_parallel(8, [&](std::size_t) {
        for (int i = 0; i < 2'000'000; ++i) {
            const Allocation allocation = limiting.allocate(100, 1);
            if (allocation.status == AllocStatus::ok) {
                limiting.deallocate(allocation.ptr, 100, 1);
            }
        }
    });
    CHECK(upstream.peak_bytes() == 100);
    tests::in_parallel(8, [&](std::size_t) {
        for (int i = 0; i < 20; ++i) {
            static_cast<void>(limiting.allocate(100, 1));
        }
    });
    CHECK(upstream.live_bytes() == 100);
}

TEST_CASE("failing: every third request is refused, whichever way it is made", "[unit]")
{
    NullResource null;
    FailingAdaptor failing{null, 3};
    for (int i = 1; i <= 30; ++i) {
        const AllocStatus status = i % 2 == 0 ? failing.allocate(8, 8).status : failing.allocate_zeroed(8, 8).status;
        CHECK(status == (i % 3 == 0 ? AllocStatus::injected : AllocStatus::ok));
    }
}

TEST_CASE("failing: exactly one in N over eight threads", "[unit]")
{
    NullResource null;
    FailingAdaptor failing{null, 7};
    std::atomic<int> refused{0};
    tests::in_parallel(8, [&](std::size_t) {
        for (int i = 0; i < 7000; ++i) {
            refused += failing.allocate(8, 8).status == AllocStatus::injected ? 1 : 0;
        }
    });
    CHECK(refused == 8000);
}

TEST_CASE("counting: refusals, gross bytes and the peak", "[unit]")
{
    NullResource null;
    LimitingAdaptor limiting{null, 1000};
    Counters counters;
    CountingAdaptor counting{limiting, counters};
    const Allocation first = counting.allocate(700, 1);
    static_cast<void>(counting.allocate(400, 1));
    counting.deallocate(first.ptr, 700, 1);
    const Allocation second = counting.allocate_zeroed(300, 1);
    CHECK(counters.allocations() == 2);
    CHECK(counters.deallocations() == 1);
    CHECK(counters.refusals() == 1);
    CHECK(counters.allocated_bytes() == 1000);
    CHECK(counters.live_bytes() == 300);
    CHECK(counters.live_bytes_peak() == 700);
    counting.deallocate(second.ptr, 300, 1);
    for (std::uint64_t live = 1; live <= 800; ++live) {
        static_cast<void>(counting.allocate(1, 1));
        REQUIRE(counters.live_bytes_peak() == std::max<std::uint64_t>(live, 700));
    }
}

TEST_CASE("a stack has the adaptors that its spec asks for, counting outermost", "[unit]")
{
    Counters counters;
    ResourceStack stack{{.resource = model::ResourceKind::null, .limit_bytes = 1000, .fail_every = 4}, counters};
    CHECK(stack.top().allocate(600, 1).status == AllocStatus::ok);
    CHECK(stack.top().allocate(600, 1).status == AllocStatus::over_limit);
    CHECK(stack.top().allocate(100, 1).status == AllocStatus::ok);
    CHECK(stack.top().allocate(100, 1).status == AllocStatus::injected);  // the 4th request, whatever became of the 2nd
    CHECK(stack.top().allocate(300, 1).status == AllocStatus::ok);        // the injected one took no room
    CHECK(counters.refusals() == 2);
    CHECK(counters.live_bytes() == 1000);
}

TEST_CASE("a stack without limits refuses nothing, from any resource", "[unit]")
{
    for (const auto& kind : model::names<model::ResourceKind>()) {
        Counters counters;
        tests::FakeRuntime runtime;
        ResourceStack stack{{kind.value, model::PageKind::system, 0, 0}, {}, counters, &runtime};
        for (int i = 0; i < 100; ++i) {
            const Allocation allocation = stack.top().allocate(10'000, 16);
            REQUIRE(allocation.status == AllocStatus::ok);
            stack.top().deallocate(allocation.ptr, 10'000, 16);
        }
        CHECK(counters.deallocations() == 100);
    }
}

TEST_CASE("every status has words of its own", "[unit]")
{
    std::set<std::string> texts;
    for (const auto status : {AllocStatus::ok, AllocStatus::out_of_memory, AllocStatus::over_limit,
                              AllocStatus::injected, AllocStatus::bad_request}) {
        CHECK(texts.insert(describe(status)).second);
    }
}

TEST_CASE("huge pages are advised for what is large enough, and for nothing else", "[machine]")
{
    PageResource pages{model::PageKind::small};
    constexpr std::uint64_t from = std::uint64_t{1} << 22;
    HugePageAdaptor advising{pages, from};
    for (const auto& [bytes, advised] : {std::pair{from - 1, false}, {from, true}, {from + 1, true}}) {
        INFO(bytes);
        const Allocation plain = advising.allocate(bytes, 16);
        const Allocation zeroed = advising.allocate_zeroed(bytes, 16);
        REQUIRE(plain.status == AllocStatus::ok);
        REQUIRE(zeroed.status == AllocStatus::ok);
        CHECK((tests::vm_flags(plain.ptr).find(" hg ") != std::string::npos) == advised);
        CHECK((tests::vm_flags(zeroed.ptr).find(" hg ") != std::string::npos) == advised);
        advising.deallocate(plain.ptr, bytes, 16);
        advising.deallocate(zeroed.ptr, bytes, 16);
    }
}

TEST_CASE("a stack advises huge pages when its spec asks for them", "[machine]")
{
    if (tests::sanitized) {
        std::cout << "skipped: huge pages advised in malloc's memory: a sanitizer's allocator stands in for malloc\n";
        return;
    }
    Counters counters;
    constexpr std::uint64_t bytes = std::uint64_t{64} << 20;  // malloc maps it: nothing else shares the mapping
    for (const std::uint64_t from : {std::uint64_t{0}, bytes}) {
        ResourceStack stack{{.huge_pages_from_bytes = from}, counters};
        const Allocation made = stack.top().allocate(bytes, 16);
        REQUIRE(made.status == AllocStatus::ok);
        const void* const inside = static_cast<std::byte*>(made.ptr) + tests::page_bytes();
        CHECK((tests::vm_flags(inside).find(" hg ") != std::string::npos) == (from != 0));
        stack.top().deallocate(made.ptr, bytes, 16);
    }
}

}  // namespace memsweep::memory
