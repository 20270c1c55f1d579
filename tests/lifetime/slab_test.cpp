// Control blocks: distinct, reused, reserved, and never taken from malloc.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <set>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

#include "core/lifetime/heap.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/counters.hpp"
#include "core/memory/page_resources.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::lifetime {
namespace {

std::uint64_t held(const BlockSlab& slab)
{
    std::uint64_t held = 0;
    slab.each([&held](const Block& block) { held += block.handles() > 0 ? 1U : 0U; });
    return held;
}

}  // namespace

TEST_CASE("slab: blocks are distinct over several chunks and come back when recycled", "[unit]")
{
    BlockSlab slab;
    std::set<Block*> seen;
    std::set<std::uint32_t> indices;
    for (int i = 0; i < 10'000; ++i) {
        Block* const block = slab.acquire();
        REQUIRE(block != nullptr);
        REQUIRE(seen.insert(block).second);
        REQUIRE(indices.insert(block->index).second);
        REQUIRE(block->count == released);
    }
    for (Block* const block : seen) {
        slab.recycle(*block);
    }
    for (int i = 0; i < 10'000; ++i) {
        seen.erase(slab.acquire());
    }
    CHECK(seen.empty());
}

TEST_CASE("slab: what is reserved is mapped then and not later", "[machine]")
{
    BlockSlab slab;
    Block* const used = slab.acquire();
    // Two chunks hold 3,072 blocks: one too few.
    std::vector<Block*> blocks(3072);
    REQUIRE(slab.reserve(blocks.size()));
    const std::uint64_t before = tests::mapped_bytes();
    for (Block*& block : blocks) {
        block = slab.acquire();
    }
    CHECK(tests::mapped_bytes() - before < 200'000);  // a third chunk would be 256 KiB
    blocks.push_back(used);
    for (Block* const block : blocks) {
        slab.recycle(*block);
    }
    CHECK(held(slab) == 0);
}

TEST_CASE("slab: a walk meets every block with a handle", "[unit]")
{
    BlockSlab slab;
    Block* const first = slab.acquire();
    Block* const second = slab.acquire();
    CHECK(held(slab) == 0);
    begin(*first);
    CHECK(held(slab) == 1);
    begin(*second);
    CHECK(held(slab) == 2);
    CHECK(drop_handle(*first).last);
    CHECK(drop_handle(*second).last);
    CHECK(held(slab) == 0);
}

TEST_CASE("slab: no block is handed to two threads at once", "[unit]")
{
    // Taking two and giving back the first is what would fool a list that compared its head alone: the head is again
    // the block that another thread has read, but the block after it is in use.
    BlockSlab slab;
    std::vector<std::atomic<int>> holders(1024);
    std::atomic<int> shared{0};
    const auto take = [&] {
        Block& block = *slab.acquire();
        shared += holders.at(block.index).fetch_add(1) == 0 ? 0 : 1;
        return &block;
    };
    const auto give = [&](Block& block) {
        holders.at(block.index).fetch_sub(1);
        slab.recycle(block);
    };
    tests::in_parallel(4, [&](std::size_t) {
        for (int i = 0; i < 100'000; ++i) {
            Block* const first = take();
            Block* const second = take();
            give(*first);
            give(*second);
        }
    });
    CHECK(shared == 0);
}

TEST_CASE("slab: what other threads give back is acquired again", "[unit]")
{
    BlockSlab slab;
    std::uint32_t highest = 0;
    for (int turn = 0; turn < 500; ++turn) {
        std::vector<Block*> blocks(100);
        for (Block*& block : blocks) {
            block = slab.acquire();
            highest = std::max(highest, block->index);
        }
        // Each thread ends with blocks of its own, which the next one to have its slot inherits.
        tests::in_parallel(2, [&](std::size_t number) {
            Block* const own = slab.acquire();
            for (std::size_t i = number; i < blocks.size(); i += 2) {
                slab.recycle(*blocks[i]);
            }
            slab.recycle(*own);
        });
    }
    CHECK(highest < 1024);  // the first chunk was enough
}

TEST_CASE("heap: without memory for a control block nothing is acquired", "[machine]")
{
    if (tests::sanitized) {
        std::cout << "skipped: heap without address space: a sanitizer maps memory of its own at any time\n";
        return;
    }
    const auto mode = GENERATE(model::ReleaseMode::refcount, model::ReleaseMode::pool, model::ReleaseMode::tls_cache);
    memory::NullResource null;
    memory::Counters counters;
    memory::CountingAdaptor counting{null, counters};
    Heap heap{counting, {.mode = mode}};
    std::vector<Buffer> buffers(5000);  // more than the first chunks hold
    std::size_t made = 0;
    heap.reserve(1);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
    const rlimit full{1, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &full) == 0);
    auto status = memory::AllocStatus::ok;
    while (made < buffers.size() && status == memory::AllocStatus::ok) {
        status = heap.allocate_into(buffers[made], 64, 16, false);
        made += status == memory::AllocStatus::ok ? 1U : 0U;
    }
    const bool empty = made == buffers.size() || !buffers[made];
    REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(status == memory::AllocStatus::out_of_memory);
    CHECK(empty);
    CHECK(counters.live_bytes() == made * 64);
    CHECK(counters.allocations() == made);
    CHECK(heap.allocate_into(buffers.back(), 64, 16, false) == memory::AllocStatus::ok);
}

TEST_CASE("heap: buffers come and go without touching malloc", "[machine]")
{
    if (tests::sanitized) {
        std::cout << "skipped: heap beside malloc: a sanitizer's allocator stands in for malloc\n";
        return;
    }
    memory::PageResource pages{model::PageKind::small};
    for (const auto& mode : model::names<model::ReleaseMode>()) {
        if (mode.value == model::ReleaseMode::leak) {
            continue;
        }
        INFO(mode.name);
        model::ReleaseSpec spec;
        spec.mode = mode.value;
        spec.collect_every = 10;
        Heap heap{pages, spec};
        heap.reserve(2000);
        heap.collect();
        heap.drain();
        const struct mallinfo2 before = ::mallinfo2();
        for (int i = 0; i < 1000; ++i) {
            Buffer buffer = heap.allocate(100, 16, true).buffer;
            const Buffer copy = buffer;
        }
        heap.collect();
        heap.drain();
        const struct mallinfo2 after = ::mallinfo2();
        CHECK(after.uordblks == before.uordblks);
        CHECK(after.hblkhd == before.hblkhd);
        CHECK(after.arena == before.arena);
    }
}

}  // namespace memsweep::lifetime
