// What a thread's cache keeps comes back to that thread, once, by exact size.
#include <array>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/lifetime/thread_cache.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

std::vector<Block> blocks_of_sizes(std::uint64_t from, std::uint64_t to)
{
    std::vector<Block> blocks(to - from);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i].bytes = from + i;
        blocks[i].alignment_log2 = 4;
    }
    return blocks;
}

}  // namespace

TEST_CASE("sizes that share a place in a thread's cache are never mixed up", "[unit]")
{
    ThreadCache cache{4, std::uint64_t{1} << 40U};
    std::vector<Block> blocks = blocks_of_sizes(1, 5001);  // of 256 places
    std::set<Block*> kept;
    for (Block& block : blocks) {
        if (cache.put(block)) {
            kept.insert(&block);
        }
    }
    CHECK(kept.size() == 256);
    std::uint64_t idle = 0;
    for (const Block* const block : kept) {
        idle += block->bytes;
    }
    CHECK(cache.idle_bytes() == idle);
    for (Block& block : blocks) {
        Block* const taken = cache.take(block.bytes, 16);
        CHECK(taken == (kept.contains(&block) ? &block : nullptr));
        CHECK(cache.take(block.bytes, 16) == nullptr);
    }
    CHECK(cache.hits() == 256);
    CHECK(cache.misses() == 2 * 5000 - 256);
    CHECK(cache.idle_bytes() == 0);
}

TEST_CASE("a place of a thread's cache goes to another size once it is empty, and keeps as many as that one may",
          "[unit]")
{
    ThreadCache cache{2, 100};
    for (std::uint64_t bytes = 1; bytes < 5000; ++bytes) {
        std::array<Block, 3> same;
        std::uint64_t kept = 0;
        for (Block& block : same) {
            block.bytes = bytes;
            block.alignment_log2 = 4;
            kept += cache.put(block) ? 1U : 0U;
        }
        REQUIRE(kept == (bytes <= 50 ? 2 : bytes <= 100 ? 1 : 0));
        for (std::uint64_t i = 0; i < kept; ++i) {
            REQUIRE(cache.take(bytes, 16) != nullptr);
        }
        REQUIRE(cache.take(bytes, 16) == nullptr);
    }
}

TEST_CASE("a thread's cache has nothing of a size that no block can have, nor of a stricter alignment", "[unit]")
{
    ThreadCache cache{2, 1000};
    CHECK(cache.take(~std::uint64_t{0}, 16) == nullptr);
    std::vector<Block> blocks = blocks_of_sizes(100, 101);
    REQUIRE(cache.put(blocks[0]));
    CHECK(cache.take(100, 32) == nullptr);
    CHECK(cache.take(~std::uint64_t{0}, 16) == nullptr);
    CHECK(cache.take(100, 16) == &blocks[0]);
}

TEST_CASE("threads beyond those that have a shard keep nothing, and take nothing from others", "[unit]")
{
    ThreadCache cache{2, 1000};
    std::vector<Block> blocks(65);
    std::size_t kept = 0;
    for (Block& block : blocks) {
        block.bytes = 100;
        block.alignment_log2 = 4;
        std::thread{[&] { kept += cache.put(block) ? 1U : 0U; }}.join();
    }
    CHECK(kept == 64);
    std::thread{[&] { CHECK(cache.take(100, 16) == nullptr); }}.join();
    CHECK(cache.idle_bytes() == 6400);
    std::set<Block*> left;
    while (Block* const block = cache.take_any()) {
        left.insert(block);
    }
    CHECK(left.size() == 64);
}

TEST_CASE("a block that lies in a thread's cache is nobody's, whoever still has a handle", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = model::ReleaseMode::tls_cache}};
    const auto outstanding = [&heap] {
        std::size_t count = 0;
        heap.each_outstanding([&count](const Heap::Outstanding& /*one*/) { ++count; });
        return count;
    };
    for (int life = 0; life < 3; ++life) {
        Buffer buffer = heap.allocate(100, 16, false).buffer;
        CHECK_FALSE(buffer.is_freed());
        CHECK(heap.accessible(buffer));
        CHECK(outstanding() == 1);
        heap.release_stray(buffer);
        CHECK(buffer.is_freed());
        CHECK_FALSE(heap.accessible(buffer));
        CHECK(outstanding() == 0);
        buffer.reset();
        CHECK(heap.stray_releases() == static_cast<std::uint64_t>(life) + 1);
        CHECK(heap.stats().idle_bytes == 100);
    }
    CHECK(heap.stats().cache_hits == 2);
    CHECK(resource.freed().empty());
}

}  // namespace memsweep::lifetime
