// Pools per NUMA node: what is returned goes back to the pool that it came from, and all of it to the upstream at the
// end.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/memory/adaptors.hpp"
#include "core/memory/node_pools.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/stack.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numa_policies.hpp"

namespace memsweep::memory {
namespace {

model::PoolSpec pool_per_node()
{
    model::PoolSpec spec;
    spec.kind = model::PoolKind::classes;
    spec.per_node = true;
    return spec;
}

}  // namespace

TEST_CASE("the owner of a block is found whatever has been entered and erased around it", "[unit]")
{
    OwnerMap map;
    const auto block = [](std::uintptr_t page) { return reinterpret_cast<const void*>(page << 12U); };
    for (std::uintptr_t page = 1; page <= 5000; ++page) {
        REQUIRE(map.insert(block(page), static_cast<std::uint32_t>(page % 7)));
    }
    for (std::uintptr_t page = 1; page <= 5000; page += 2) {
        map.erase(block(page));
    }
    for (std::uintptr_t page = 2; page <= 5000; page += 2) {
        REQUIRE(map.owner_of(block(page)) == page % 7);
    }
    REQUIRE(map.insert(block(1), 3));
    CHECK(map.owner_of(block(1)) == 3);
}

TEST_CASE("pools per node: a block comes back to its own thread, and its pages lie on the thread's node", "[machine]")
{
    PageResource pages{model::PageKind::small};
    Counters counters;
    CountingAdaptor upstream{pages, counters};
    {
        const auto pool = make_pool(pool_per_node(), upstream, sys::page_size());
        const Allocation first = pool->allocate(100'000, 16);
        REQUIRE(first.status == AllocStatus::ok);
        std::memset(first.ptr, 1, 100'000);
        const auto found = sys::pages_by_node(first.ptr, 100'000);
        const auto known = sys::nodes_with_memory();
        REQUIRE(found);
        CHECK(std::ranges::all_of(found->pages, [&](const auto& pages_of_one) {
            return std::ranges::find(known, pages_of_one.first) != known.end();
        }));
        pool->deallocate(first.ptr, 100'000, 16);
        if (known.size() == 1) {  // elsewhere the thread may have moved on
            const Allocation second = pool->allocate(100'000, 16);
            CHECK(second.ptr == first.ptr);
            pool->deallocate(second.ptr, 100'000, 16);
        }
        CHECK(pool->stats().misses + pool->stats().hits() >= 1);
        const std::uint64_t trimmed = pool->trim(0);
        CHECK(trimmed == pool->stats().released_bytes);
    }
    CHECK(counters.live_bytes() == 0);
}

TEST_CASE("pools per node: parts are told apart by the block, not by who returns it", "[unit]")
{
    if (const std::string why = tests::why_no_numa_policies(); !why.empty()) {
        WARN("skipped: pools per node: " + why);
        return;
    }
    PageResource pages{model::PageKind::small};
    Counters counters;
    CountingAdaptor upstream{pages, counters};
    {
        NodePools pool{
            pool_per_node(), upstream, {0, 0}, sys::page_size()};  // two parts on the one node that every machine has
        std::vector<void*> blocks(200);
        std::ranges::generate(blocks, [&] { return pool.allocate(5000, 16).ptr; });
        CHECK(std::ranges::none_of(blocks, [](void* block) { return block == nullptr; }));
        tests::in_parallel(4, [&](std::size_t number) {
            for (std::size_t i = number; i < blocks.size(); i += 4) {
                pool.deallocate(blocks[i], 5000, 16);
            }
        });
        CHECK(pool.stats().misses == 200);
        CHECK(pool.stats().held_bytes == 200 * 5120);
        // What no pool takes goes past it, and back.
        const Allocation large = pool.allocate(std::size_t{2} << 30U, 16);
        REQUIRE(large.status == AllocStatus::ok);
        pool.deallocate(large.ptr, std::size_t{2} << 30U, 16);
        CHECK(pool.stats().bypasses == 1);
    }
    CHECK(counters.live_bytes() == 0);
}

}  // namespace memsweep::memory
