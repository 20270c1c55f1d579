// What looks for mistakes: fences that trap, and a quarantine that shows what was written to after it was freed.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <vector>

#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/stack.hpp"
#include "core/sys/signals.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/trap_handlers.hpp"

namespace memsweep::memory {
namespace {

unsigned char* bytes_of(const Allocation& allocation)
{
    return static_cast<unsigned char*>(allocation.ptr);
}

bool write_traps(unsigned char* at)
{
    const sys::Trapped trapped = sys::trapped([at] { *static_cast<volatile unsigned char*>(at) = 1; });
    return trapped.faulted && trapped.address == at;
}

bool read_traps(const unsigned char* at)
{
    unsigned char seen{};
    const sys::Trapped trapped = sys::trapped([at, &seen] { seen = *static_cast<const volatile unsigned char*>(at); });
    return trapped.faulted && trapped.address == at;
}

using Tags = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("fenced: every byte of an array can be used, the first byte past it traps", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    FencedResource fenced{false};
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{4095}, std::size_t{4096},
                                    std::size_t{4097}, std::size_t{100'000}}) {
        INFO(bytes << " bytes");
        const Allocation made = fenced.allocate(bytes, 1);
        REQUIRE(made.status == AllocStatus::ok);
        std::memset(made.ptr, 0x5A, bytes);
        CHECK(write_traps(bytes_of(made) + bytes));
        CHECK(read_traps(bytes_of(made) + bytes));
        CHECK(read_traps(bytes_of(made) + bytes + 4095));
        CHECK(bytes_of(made)[bytes - 1] == 0x5A);
        fenced.deallocate(made.ptr, bytes, 1);
    }
}

TEST_CASE("fenced: with an alignment the fence begins at its next multiple", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    FencedResource fenced{false};
    const Allocation made = fenced.allocate(100, 64);
    CHECK_FALSE(write_traps(bytes_of(made) + 100));
    CHECK_FALSE(write_traps(bytes_of(made) + 127));
    CHECK(write_traps(bytes_of(made) + 128));
    fenced.deallocate(made.ptr, 100, 64);
    for (std::size_t alignment = 1; alignment <= tests::page_bytes(); alignment *= 2) {
        const Allocation whole = fenced.allocate(alignment, alignment);
        CHECK(reinterpret_cast<std::uintptr_t>(whole.ptr) % alignment == 0);
        CHECK(write_traps(bytes_of(whole) + alignment));
        fenced.deallocate(whole.ptr, alignment, alignment);
    }
    CHECK(fenced.allocate(1, 2 * tests::page_bytes()).status == AllocStatus::bad_request);
}

TEST_CASE("fenced: an underrun inside the first page is not caught", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    FencedResource fenced{false};
    const Allocation made = fenced.allocate(100, 1);
    CHECK_FALSE(write_traps(bytes_of(made) - 1));
    fenced.deallocate(made.ptr, 100, 1);
}

TEST_CASE("fenced: memory is zero when asked, and nothing of zero bytes may be touched", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    FencedResource fenced{false};
    const Allocation zeroed = fenced.allocate_zeroed(5000, 16);
    CHECK(std::all_of(bytes_of(zeroed), bytes_of(zeroed) + 5000, [](unsigned char byte) { return byte == 0; }));
    fenced.deallocate(zeroed.ptr, 5000, 16);
    const Allocation first = fenced.allocate(0, 16);
    const Allocation second = fenced.allocate(0, 16);
    CHECK(first.status == AllocStatus::ok);
    CHECK(first.ptr != second.ptr);
    CHECK(read_traps(bytes_of(first)));
    fenced.deallocate(first.ptr, 0, 16);
    fenced.deallocate(second.ptr, 0, 16);
}

TEST_CASE("fenced: freed memory traps while it is kept, and holds no pages", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    FencedResource fenced{true};
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{4096}, std::size_t{50'000}}) {
        const Allocation made = fenced.allocate(bytes, 1);
        std::memset(made.ptr, 1, bytes);
        fenced.deallocate(made.ptr, bytes, 1);
        CHECK(read_traps(bytes_of(made)));
        CHECK(write_traps(bytes_of(made)));
        CHECK(write_traps(bytes_of(made) + std::max<std::size_t>(bytes, 1) - 1));
        CHECK(tests::resident_pages(made.ptr, std::max<std::size_t>(bytes, 1)) <= 0);
    }
}

TEST_CASE("fenced: of what is kept the oldest goes first", "[machine]")
{
    if (tests::sanitized) {
        std::cout << "skipped: 16,384 kept ranges: a sanitizer's own mappings come into their place\n";
        return;
    }
    FencedResource fenced{true};
    const std::uint64_t before = tests::mapped_bytes();
    for (std::size_t i = 0; i < FencedResource::kept_ranges + 100; ++i) {
        const Allocation made = fenced.allocate(10, 1);
        REQUIRE(made.status == AllocStatus::ok);
        fenced.deallocate(made.ptr, 10, 1);
    }
    const std::uint64_t kept = tests::mapped_bytes() - before;
    CHECK(kept >= FencedResource::kept_ranges * 2 * tests::page_bytes());
    CHECK(kept < (FencedResource::kept_ranges + 100) * 2 * tests::page_bytes() + (16U << 20U));
}

TEST_CASE("quarantine: freed memory is held back, poisoned, and given back in order by size", "[unit]")
{
    MallocResource malloc;
    Counters counters;
    CountingAdaptor upstream{malloc, counters};
    QuarantineAdaptor quarantine{upstream, 300};
    std::vector<Allocation> made(4);
    for (Allocation& one : made) {
        one = quarantine.allocate(100, 16);
        std::memset(one.ptr, 0x11, 100);
        CHECK_FALSE(looks_poisoned(one.ptr, 100));
    }
    for (std::size_t i = 0; i < 3; ++i) {
        quarantine.deallocate(made[i].ptr, 100, 16);
        CHECK(looks_poisoned(made[i].ptr, 100));
        CHECK(counters.deallocations() == 0);
    }
    quarantine.deallocate(made[3].ptr, 100, 16);  // 400 bytes: the first has to go
    CHECK(counters.deallocations() == 1);
    CHECK(counters.live_bytes() == 300);
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(looks_poisoned(made[i].ptr, 100));
    }
    const Allocation large = quarantine.allocate(301, 16);
    quarantine.deallocate(large.ptr, 301, 16);  // larger than the quarantine: nothing can stay
    CHECK(counters.live_bytes() == 0);
    CHECK(quarantine.take_broken().empty());
}

TEST_CASE("quarantine: a write after the free is found with its tag, wherever it fell", "[unit]")
{
    MallocResource malloc;
    QuarantineAdaptor quarantine{malloc, 1 << 20};
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{50}, std::size_t{98}, std::size_t{99}}) {
        const Allocation before = quarantine.allocate(100, 16);
        const Allocation made = quarantine.allocate(100, 16);
        quarantine.tag_next(3);
        quarantine.deallocate(before.ptr, 100, 16);
        quarantine.tag_next(7);
        quarantine.deallocate(made.ptr, 100, 16);
        quarantine.tag_next(9);
        bytes_of(made)[at] = 0;
        CHECK(quarantine.take_broken() == Tags{7});
        CHECK(quarantine.take_broken().empty());
    }
}

TEST_CASE("quarantine: a write is found when its memory leaves early, too", "[unit]")
{
    MallocResource malloc;
    QuarantineAdaptor quarantine{malloc, 250};
    for (std::uint16_t tag = 0; tag < 6; ++tag) {
        const Allocation made = quarantine.allocate(100, 16);
        quarantine.tag_next(tag);
        quarantine.deallocate(made.ptr, 100, 16);
        if (tag % 2 == 0) {
            bytes_of(made)[99] = 1;
        }
    }
    CHECK(quarantine.take_broken() == Tags{0, 2, 4});
}

TEST_CASE("quarantine: silent when nothing was written after a free", "[unit]")
{
    MallocResource malloc;
    QuarantineAdaptor quarantine{malloc, 5000};
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{4999}, std::size_t{100'000}}) {
        const Allocation made = quarantine.allocate(bytes, 16);
        std::memset(made.ptr, 0x22, bytes);
        quarantine.deallocate(made.ptr, bytes, 16);
    }
    // A write of the pattern itself leaves no trace: that is the method's limit.
    const Allocation made = quarantine.allocate(100, 16);
    quarantine.deallocate(made.ptr, 100, 16);
    bytes_of(made)[50] = QuarantineAdaptor::poison;
    CHECK(quarantine.take_broken().empty());
}

TEST_CASE("quarantine: its end gives everything back", "[unit]")
{
    MallocResource malloc;
    Counters counters;
    CountingAdaptor upstream{malloc, counters};
    {
        QuarantineAdaptor quarantine{upstream, 1 << 20};
        for (int i = 0; i < 50; ++i) {
            quarantine.deallocate(quarantine.allocate(100, 16).ptr, 100, 16);
        }
        CHECK(counters.live_bytes() == 5000);
    }
    CHECK(counters.live_bytes() == 0);
}

TEST_CASE("quarantine: eight threads free into it, and nothing looks broken", "[unit]")
{
    MallocResource malloc;
    Counters counters;
    CountingAdaptor upstream{malloc, counters};
    QuarantineAdaptor quarantine{upstream, 10'000};
    tests::in_parallel(8, [&](std::size_t) {
        for (std::size_t i = 0; i < 2000; ++i) {
            const std::size_t bytes = 1 + i % 300;
            const Allocation made = quarantine.allocate(bytes, 16);
            std::memset(made.ptr, 0x33, bytes);
            quarantine.deallocate(made.ptr, bytes, 16);
        }
    });
    CHECK(quarantine.take_broken().empty());
    CHECK(counters.live_bytes() == 0);
    CHECK(counters.deallocations() == 16'000);
}

TEST_CASE("memory looks poisoned only when both its ends do", "[unit]")
{
    std::vector<unsigned char> memory(100, QuarantineAdaptor::poison);
    CHECK(looks_poisoned(memory.data(), 100));
    CHECK(looks_poisoned(memory.data(), 1));
    CHECK_FALSE(looks_poisoned(memory.data(), 0));
    for (const std::size_t at : {std::size_t{0}, std::size_t{15}, std::size_t{84}, std::size_t{99}}) {
        memory[at] = 0;
        CHECK_FALSE(looks_poisoned(memory.data(), 100));
        memory[at] = QuarantineAdaptor::poison;
    }
}

TEST_CASE("a stack has the safety that its spec asks for, and counts what the program gave back", "[unit]")
{
    const model::MemorySpec pages{.resource = model::ResourceKind::pages};
    Counters counters;
    ResourceStack plain{pages, counters};
    CHECK(plain.quarantine() == nullptr);
    ResourceStack held{pages, {.detect = model::Detection::quarantine}, counters};
    REQUIRE(held.quarantine() != nullptr);
    const Allocation made = held.top().allocate(100, 16);
    held.top().deallocate(made.ptr, 100, 16);
    CHECK(counters.live_bytes() == 0);  // held back, but given back by the program
    CHECK(looks_poisoned(made.ptr, 100));
    // A resource without memory has nothing to poison and nothing to fence.
    const model::MemorySpec null{.resource = model::ResourceKind::null};
    ResourceStack nothing{null, {.detect = model::Detection::quarantine, .guard_pages = true}, counters};
    CHECK(nothing.quarantine() == nullptr);
    const Allocation unreal = nothing.top().allocate(std::size_t{1} << 40, 16);
    CHECK(unreal.status == AllocStatus::ok);
    nothing.top().deallocate(unreal.ptr, std::size_t{1} << 40, 16);
}

TEST_CASE("a stack's fences: guard pages catch an overrun, detection by unmapping a use after free as well",
          "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    for (const bool unmaps : {false, true}) {
        Counters counters;
        const model::SafetySpec safety{.detect = unmaps ? model::Detection::unmap : model::Detection::off,
                                       .guard_pages = true};
        ResourceStack stack{{}, safety, counters};
        const Allocation made = stack.top().allocate(4096, 64);
        CHECK_FALSE(write_traps(bytes_of(made) + 4095));
        CHECK(write_traps(bytes_of(made) + 4096));
        stack.top().deallocate(made.ptr, 4096, 64);
        CHECK((!unmaps || read_traps(bytes_of(made))));
        CHECK(counters.live_bytes() == 0);
    }
}

}  // namespace memsweep::memory
