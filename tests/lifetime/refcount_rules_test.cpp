// The counting rules, one test per rule and per race, mirroring the tests of NumSharp's fix.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "core/lifetime/heap.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

constexpr model::ReleaseSpec refcount{};

using tests::make_buffer;

struct Fixture {
    tests::TrackingResource resource;
    Heap heap{resource, refcount};
    [[nodiscard]] std::size_t freed() const { return resource.freed().size(); }
};

struct Many {
    std::vector<Buffer> buffers;
    std::vector<Block*> blocks;
};

Many make_many(Heap& heap, int count)
{
    Many many;
    for (int i = 0; i < count; ++i) {
        many.buffers.push_back(make_buffer(heap, 8));
        std::memset(many.buffers.back().data(), 0x42, 8);
        many.blocks.push_back(many.buffers.back().block());
    }
    return many;
}

bool all_released(const std::vector<Block*>& blocks)
{
    return std::all_of(blocks.begin(), blocks.end(), [](const Block* block) { return block->count == released; });
}

}  // namespace

TEST_CASE("every handle counts one, from the first; -1 means released", "[unit]")
{
    Block block;
    CHECK(block.count == released);
    begin(block);
    CHECK(block.handles() == 1);
    CHECK(try_add_handle(block));
    CHECK(block.handles() == 2);
    CHECK_FALSE(drop_handle(block).last);
    CHECK(block.handles() == 1);
    const Drop drop = drop_handle(block);
    CHECK(drop.last);
    CHECK_FALSE(drop.stray);
    CHECK(block.count == released);
}

TEST_CASE("a released block cannot be revived", "[unit]")
{
    Block block;
    CHECK_FALSE(try_add_handle(block));
    begin(block);
    REQUIRE(drop_handle(block).last);
    CHECK_FALSE(try_add_handle(block));
    CHECK(block.count == released);
}

TEST_CASE("a watched block counts its handles as any other, and is not watched in its next life", "[unit]")
{
    Block block;
    block.local = GENERATE(false, true);
    begin(block);
    watch(block);
    watch(block);
    CHECK(block.handles() == 1);
    CHECK_FALSE(drop_sole_handle(block));  // without a locked instruction: who watches may add one meanwhile
    CHECK(add_handle(block));
    CHECK(try_add_handle(block));
    CHECK(block.handles() == 3);
    CHECK_FALSE(drop_handle(block).last);
    CHECK_FALSE(drop_handle(block).last);
    CHECK(drop_handle(block).last);
    CHECK(block.count == released);
    CHECK(drop_handle(block).stray);
    CHECK_FALSE(try_add_handle(block));
    watch(block);
    CHECK(block.count == released);
    begin_kept(block);
    CHECK(block.handles() == 1);
    CHECK(drop_sole_handle(block));
}

TEST_CASE("of a watched block's strays and last releases one is the last, whatever their order", "[unit]")
{
    for (int round = 0; round < 200; ++round) {
        Block block;
        begin(block);
        watch(block);
        std::atomic<int> last{0};
        std::atomic<int> stray{0};
        tests::in_parallel(4, [&](std::size_t) {
            const Drop drop = drop_handle(block);
            last += drop.last ? 1 : 0;
            stray += drop.stray ? 1 : 0;
        });
        REQUIRE(last == 1);
        REQUIRE(stray == 3);
        REQUIRE(block.count == released);
    }
}

TEST_CASE("the once-flag lets one of many through", "[unit]")
{
    for (int round = 0; round < 200; ++round) {
        Block block;
        begin(block);
        std::atomic<int> through{0};
        tests::in_parallel(4, [&](std::size_t) { through += claim_free(block) ? 1 : 0; });
        REQUIRE(through == 1);
    }
}

TEST_CASE_METHOD(Fixture, "one disposal frees, further ones do nothing", "[unit]")
{
    Buffer buffer = make_buffer(heap, 64);
    CHECK(buffer.unique());
    buffer.reset();
    CHECK(freed() == 1);
    CHECK_FALSE(buffer);
    CHECK(buffer.data() == nullptr);
    buffer.reset();
    buffer.reset();
    CHECK(freed() == 1);
    CHECK(heap.stray_releases() == 0);
    CHECK(resource.wrong_frees() == 0);
}

TEST_CASE_METHOD(Fixture, "copies share, moves do not count, the last one frees", "[unit]")
{
    Buffer first = make_buffer(heap, 100);
    Buffer second = first;
    CHECK(second.data() == first.data());
    CHECK(second.bytes() == 100);
    CHECK(first.use_count() == 2);
    Buffer third = std::move(first);
    CHECK(third.use_count() == 2);
    CHECK_FALSE(first);
    second = third;  // onto a handle of the same buffer
    Buffer& itself = third;
    third = itself;
    third = std::move(itself);
    CHECK(third.use_count() == 2);
    Buffer other = make_buffer(heap, 64);
    second = other;
    CHECK(third.unique());
    CHECK(other.use_count() == 2);
    third = std::move(other);
    CHECK(freed() == 1);
    second.reset();
    CHECK(freed() == 1);
    third.reset();
    CHECK(freed() == 2);
}

TEST_CASE_METHOD(Fixture, "parent and view go in either order", "[unit]")
{
    for (const bool parent_first : {true, false}) {
        const std::size_t before = freed();
        Buffer parent = make_buffer(heap, 64);
        Buffer view = parent;
        std::memset(parent.data(), 7, 64);
        (parent_first ? parent : view).reset();
        CHECK(freed() == before);
        const Buffer& left = parent_first ? view : parent;
        CHECK(static_cast<unsigned char*>(left.data())[63] == 7);
        (parent_first ? view : parent).reset();
        CHECK(freed() == before + 1);
    }
}

TEST_CASE_METHOD(Fixture, "32 threads add and release 1000 times each", "[unit]")
{
    const Buffer buffer = make_buffer(heap, 64);
    tests::in_parallel(32, [&](std::size_t) {
        for (int i = 0; i < 1000; ++i) {
            const Buffer copy = buffer;
        }
    });
    CHECK(buffer.use_count() == 1);
    CHECK(freed() == 0);
    CHECK(heap.stray_releases() == 0);
}

TEST_CASE_METHOD(Fixture, "1000 additions and releases in one thread leave the count as it was", "[unit]")
{
    Buffer buffer = make_buffer(heap, 64);
    Block& block = *buffer.block();
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(try_add_handle(block));
    }
    CHECK(buffer.use_count() == 1001);
    for (int i = 0; i < 1000; ++i) {
        release_handle(block);
    }
    CHECK(buffer.unique());
    buffer.reset();
    CHECK(freed() == 1);
}

TEST_CASE_METHOD(Fixture, "50 parallel disposals free once", "[unit]")
{
    for (int round = 0; round < 20; ++round) {
        const std::size_t before = freed();
        Buffer buffer = make_buffer(heap, 64);
        std::vector<Buffer> copies(50, buffer);
        buffer.reset();
        tests::in_parallel(50, [&](std::size_t number) { copies[number].reset(); });
        REQUIRE(freed() == before + 1);
    }
    CHECK(resource.wrong_frees() == 0);
}

TEST_CASE_METHOD(Fixture, "dropped in another thread than the one that made it", "[unit]")
{
    Buffer buffer = make_buffer(heap, 64);
    std::thread{[taken = std::move(buffer)]() mutable { taken.reset(); }}.join();
    CHECK(freed() == 1);
    CHECK(resource.freeing_threads().front() != std::this_thread::get_id());
}

TEST_CASE_METHOD(Fixture, "10,000 races between adding a handle and the final release", "[unit]")
{
    constexpr int batches = 20;
    constexpr int per_batch = 500;
    int revived = 0;
    int corrupted = 0;
    for (int batch = 0; batch < batches; ++batch) {
        Many many = make_many(heap, per_batch);
        tests::side_by_side(
            per_batch, [&](int i) { many.buffers[static_cast<std::size_t>(i)].reset(); },
            [&](int i) {
                Block& block = *many.blocks[static_cast<std::size_t>(i)];
                if (try_add_handle(block)) {
                    ++revived;
                    // Held, so it must not have been freed under us.
                    corrupted += *static_cast<unsigned char*>(block.data) == 0x42 ? 0 : 1;
                    release_handle(block);
                }
            });
        REQUIRE(resource.live_bytes() == 0);
        REQUIRE(all_released(many.blocks));
    }
    CAPTURE(revived);  // how often the handle was added in time
    CHECK(corrupted == 0);
    CHECK(freed() == batches * per_batch);
    CHECK(resource.wrong_frees() == 0);
    CHECK(heap.stray_releases() == 0);
}

TEST_CASE_METHOD(Fixture, "100 stray releases are undone and counted", "[unit]")
{
    Buffer buffer = make_buffer(heap, 64);
    Block& block = *buffer.block();
    buffer.reset();
    for (int i = 0; i < 100; ++i) {
        release_handle(block);
        REQUIRE(block.count == released);
    }
    CHECK(heap.stray_releases() == 100);
    CHECK(freed() == 1);
    CHECK(resource.wrong_frees() == 0);
    CHECK_FALSE(try_add_handle(block));
    Buffer next = make_buffer(heap, 64);  // the block's next life starts clean
    CHECK(next.unique());
}

TEST_CASE_METHOD(Fixture, "stray releases from many threads leave the count released", "[unit]")
{
    Buffer buffer = make_buffer(heap, 64);
    Block& block = *buffer.block();
    buffer.reset();
    tests::in_parallel(8, [&](std::size_t) {
        for (int i = 0; i < 1000; ++i) {
            release_handle(block);
        }
    });
    CHECK(block.count == released);
    CHECK(heap.stray_releases() == 8000);
    CHECK(freed() == 1);
}

TEST_CASE_METHOD(Fixture, "10,000 races between the last release and a stray one free exactly once", "[unit]")
{
    constexpr int batches = 20;
    constexpr int per_batch = 500;
    for (int batch = 0; batch < batches; ++batch) {
        Many many = make_many(heap, per_batch);
        tests::side_by_side(
            per_batch, [&](int i) { many.buffers[static_cast<std::size_t>(i)].reset(); },
            [&](int i) { release_handle(*many.blocks[static_cast<std::size_t>(i)]); });
        REQUIRE(resource.live_bytes() == 0);
        REQUIRE(all_released(many.blocks));
    }
    CHECK(freed() == batches * per_batch);
    CHECK(heap.stray_releases() == batches * per_batch);
    CHECK(resource.wrong_frees() == 0);
}

TEST_CASE("a wrap owns nothing and may be shared by 20 threads", "[unit]")
{
    std::array<unsigned char, 256> memory{};
    const Buffer wrap = Buffer::wrap(memory.data(), memory.size());
    CHECK(wrap);
    CHECK(wrap.data() == memory.data());
    CHECK(wrap.bytes() == 256);
    CHECK(wrap.block() == nullptr);
    tests::in_parallel(20, [&](std::size_t) {
        for (int i = 0; i < 1000; ++i) {
            Buffer copy = wrap;
            copy.reset();
        }
    });
    CHECK(wrap.use_count() == 0);
    CHECK_FALSE(wrap.unique());
    memory[255] = 1;
    CHECK(static_cast<unsigned char*>(wrap.data())[255] == 1);
}

TEST_CASE("an adopted buffer's deleter runs once, with what it was given", "[unit]")
{
    struct Seen {
        std::atomic<int> calls{0};
        void* data{};
        std::uint64_t bytes{};
    } seen;
    int memory{};
    Buffer buffer = Buffer::adopt(
        &memory, sizeof memory,
        [](void* context, void* data, std::uint64_t bytes) noexcept {
            auto& reported = *static_cast<Seen*>(context);
            ++reported.calls;
            reported.data = data;
            reported.bytes = bytes;
        },
        &seen);
    CHECK(buffer.unique());
    std::vector<Buffer> copies(50, buffer);
    CHECK(buffer.use_count() == 51);
    buffer.reset();
    tests::in_parallel(50, [&](std::size_t number) { copies[number].reset(); });
    CHECK(seen.calls == 1);
    CHECK(seen.data == &memory);
    CHECK(seen.bytes == sizeof memory);
}

TEST_CASE("10,000 cycles release in every cycle", "[unit]")
{
    memory::MallocResource malloc;
    memory::Counters counters;
    memory::CountingAdaptor counting{malloc, counters};
    Heap heap{counting, refcount};
    for (std::uint64_t cycle = 1; cycle <= 10'000; ++cycle) {
        Buffer buffer = make_buffer(heap, 8000);
        REQUIRE(counters.live_bytes() == 8000);
        buffer.reset();
        REQUIRE(counters.live_bytes() == 0);
        REQUIRE(counters.deallocations() == cycle);
    }
}

TEST_CASE("a buffer that outlives its heap stops the process", "[unit]")
{
    const pid_t child = ::fork();
    if (child == 0) {
        static_cast<void>(::freopen("/dev/null", "w", stderr));
        std::signal(SIGABRT, SIG_DFL);
        memory::MallocResource malloc;
        Buffer survivor;
        {
            Heap heap{malloc, refcount};
            survivor = std::move(heap.allocate(10, 1, false).buffer);
        }
        ::_exit(0);
    }
    int status{};
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
}

}  // namespace memsweep::lifetime
