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

TEST_CASE("a block whose place has gone to another size while it was in use does not go back there", "[unit]")
{
    ThreadCache cache{4, std::uint64_t{1} << 40U};
    std::vector<Block> blocks = blocks_of_sizes(1, 5001);
    Block& first = blocks.front();
    std::size_t other = 0;
    for (bool share = false; !share;) {
        REQUIRE(++other < blocks.size());
        REQUIRE(cache.put(blocks[other]));
        share = !cache.put(first);
        REQUIRE((share || cache.take(first.bytes, 16) == &first));
        REQUIRE(cache.take(blocks[other].bytes, 16) == &blocks[other]);
    }
    REQUIRE(cache.put(first));
    REQUIRE(ThreadCache::take_recent(cache.number(), first.bytes, 16) == &first);
    REQUIRE(ThreadCache::put_recent(first));
    REQUIRE(cache.take(first.bytes, 16) == &first);
    REQUIRE(cache.put(blocks[other]));
    CHECK_FALSE(ThreadCache::put_recent(first));
    CHECK(cache.take(first.bytes, 16) == nullptr);
    CHECK(cache.take(blocks[other].bytes, 16) == &blocks[other]);
}

TEST_CASE("a block that the cache had no room for does not go, with its next memory, where it once lay", "[unit]")
{
    tests::TrackingResource resource;
    Heap heap{resource, {.mode = model::ReleaseMode::tls_cache, .cache = {.per_size = 1}}};
    Buffer first = heap.allocate(100, 16, false).buffer;
    Buffer second = heap.allocate(100, 16, false).buffer;
    first.reset();
    first = heap.allocate(100, 16, false).buffer;
    second.reset();
    first.reset();
    REQUIRE(resource.freed().size() == 1);
    Buffer large = heap.allocate(5000, 16, false).buffer;
    first = heap.allocate(100, 16, false).buffer;
    large.reset();
    first.reset();
    CHECK(heap.stats().idle_bytes == 5100);
    CHECK(heap.stats().cache_hits == 2);
    CHECK(heap.allocate(5000, 16, false).buffer.bytes() == 5000);
    CHECK(heap.stats().cache_hits == 3);
    CHECK(resource.freed().size() == 1);
}

TEST_CASE("a heap's cache hands out every size as often as it came back, whichever heap and thread used it before",
          "[unit]")
{
    tests::TrackingResource resource;
    for (int round = 0; round < 3; ++round) {  // what the thread remembers of a heap outlives it
        Heap one{resource, {.mode = model::ReleaseMode::tls_cache, .cache = {.per_size = 2}}};
        Heap other{resource, {.mode = model::ReleaseMode::tls_cache, .cache = {.per_size = 2}}};
        const std::size_t freed_before = resource.freed().size();
        const auto make_and_drop = [](Heap& heap, std::uint64_t bytes) {
            std::array<Buffer, 3> buffers;  // of which the cache keeps two
            for (Buffer& buffer : buffers) {
                buffer = heap.allocate(bytes, 16, false).buffer;
                REQUIRE(buffer.bytes() == bytes);
            }
        };
        for (const std::uint64_t bytes : std::array<std::uint64_t, 4>{100, 200, 100, 200}) {
            make_and_drop(one, bytes);
            make_and_drop(other, bytes);
            std::thread{[&] { make_and_drop(one, bytes); }}.join();
        }
        CHECK(resource.wrong_frees() == 0);
        const std::uint64_t made = one.stats().cache_hits + one.stats().cache_misses;
        CHECK(made + other.stats().cache_hits + other.stats().cache_misses == 36);
        const std::size_t freed = resource.freed().size() - freed_before;
        const std::uint64_t idle = one.stats().idle_bytes + other.stats().idle_bytes;
        const std::uint64_t misses = one.stats().cache_misses + other.stats().cache_misses;
        CHECK(misses - freed == idle / 150);  // as many of 100 bytes as of 200
        Buffer held = one.allocate(100, 16, false).buffer;
        std::thread{[&] { held.reset(); }}.join();
        CHECK(resource.wrong_frees() == 0);
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
