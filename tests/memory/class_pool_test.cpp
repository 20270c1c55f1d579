// What a pool of size classes keeps, hands out again, gives back and says of itself.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/page_resources.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/memory/pool_specs.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::memory {
namespace {

using tests::classes;
using tests::store_only;

constexpr std::uint64_t mebibytes = 1U << 20U;

// A pool over a counted upstream whose memory is never touched.
struct Rig {
    explicit Rig(const model::PoolSpec& spec) : pool{spec, counted} {}

    void* take(std::size_t bytes)
    {
        const Allocation made = pool.allocate(bytes, 16);
        REQUIRE(made.status == AllocStatus::ok);
        return made.ptr;
    }
    void put(void* ptr, std::size_t bytes) { pool.deallocate(ptr, bytes, 16); }

    NullResource null;
    Counters upstream;
    CountingAdaptor counted{null, upstream};
    ClassPool pool;
};

}  // namespace

TEST_CASE("class pool: what comes back is handed out again, to any size of its class", "[unit]")
{
    for (const auto& topology : model::names<model::PoolTopology>()) {
        model::PoolSpec spec = classes();
        spec.topology = topology.value;
        Rig rig{spec};
        void* const first = rig.take(1000);
        rig.put(first, 1000);
        CHECK(rig.take(600) == first);
        void* const second = rig.take(600);
        CHECK(second != first);
        rig.put(first, 600);
        rig.put(second, 600);
        CHECK(rig.upstream.allocations() == 2);
        CHECK(rig.upstream.live_bytes() == 2048);
        const PoolStats stats = rig.pool.stats();
        CHECK(stats.hits() == 1);
        CHECK(stats.misses == 2);
        CHECK(stats.requested_bytes == 2200);
        CHECK(stats.served_bytes == 3 * 1024);
        CHECK(stats.idle_bytes == 2048);
        CHECK(stats.idle_blocks == 2);
        CHECK(stats.held_bytes == 2048);
    }
}

TEST_CASE("class pool: what no resource can serve is refused without asking one", "[unit]")
{
    Rig rig{classes()};
    const auto is_refused = [&rig](std::size_t bytes) {
        return rig.pool.allocate(bytes, 16).status == AllocStatus::bad_request &&
               rig.pool.allocate_zeroed(bytes, 16).status == AllocStatus::bad_request;
    };
    const volatile std::size_t most = ~std::size_t{0};  // unknown to the compiler, which warns of clearing so much
    CHECK(is_refused(most));                            // before this thread has a cache, and with one
    rig.put(rig.take(1000), 1000);
    CHECK(is_refused(most));
    CHECK(is_refused(most / 2));
    CHECK(rig.upstream.refusals() == 0);
}

TEST_CASE("class pool: hits by tier are exact", "[unit]")
{
    model::PoolSpec spec = classes();
    spec.thread_blocks = 4;
    spec.depot_blocks = 4;
    Rig rig{spec};
    std::vector<void*> held(14);
    for (void*& one : held) {
        one = rig.take(100);
    }
    for (void* const one : held) {
        rig.put(one, 100);
    }
    // Full caches moved their older half on, two at a time: four blocks are here, four in the depot, six in the store.
    CHECK(rig.pool.stats().idle_blocks == 14);
    for (void*& one : held) {
        one = rig.take(100);
    }
    const PoolStats stats = rig.pool.stats();
    CHECK(stats.misses == 14);
    CHECK(stats.hits() == 14);
    // Of the depot's, three come at a time: one is handed out, two become the thread's.
    CHECK(stats.depot_hits == 2);
    CHECK(stats.thread_hits == 4 + 2);
    CHECK(stats.common_hits == 6);
    CHECK(std::set<void*>{held.begin(), held.end()}.size() == 14);
    for (void* const one : held) {
        rig.put(one, 100);
    }
}

TEST_CASE("class pool: a thread keeps as many of a class as it may, and they come back last in, first out", "[unit]")
{
    const auto most = GENERATE(1U, 2U, 3U, 8U, 62U);
    model::PoolSpec spec = classes();
    spec.thread_blocks = most;
    spec.depot_blocks = 0;
    Rig rig{spec};
    std::vector<void*> held(most + 1);
    for (void*& one : held) {
        one = rig.take(100);
    }
    for (std::size_t i = 0; i < most; ++i) {
        rig.put(held[i], 100);
    }
    for (std::size_t i = most; i-- > 0;) {
        CHECK(rig.take(100) == held[i]);
    }
    CHECK(rig.pool.stats().thread_hits == most);
    for (void* const one : held) {
        rig.put(one, 100);
    }
    // The last one found no room: the older half moved on.
    CHECK(rig.pool.stats().idle_blocks == most + 1);
    std::set<void*> back;
    for (std::size_t i = 0; i <= most; ++i) {
        back.insert(rig.take(100));
    }
    CHECK(back == std::set<void*>(held.begin(), held.end()));
    CHECK(rig.pool.stats().common_hits == (most + 1) / 2);
    CHECK(rig.pool.stats().misses == most + 1);
}

TEST_CASE("class pool: nothing that is larger than its last class gets a short block", "[unit]")
{
    for (const auto& scheme : model::names<model::ClassScheme>()) {
        model::PoolSpec spec = classes();
        spec.classes = scheme.value;
        spec.largest = 1024 * mebibytes;
        INFO("scheme " << scheme.name);
        const SizeClasses table{spec};
        const bool exact = scheme.value == model::ClassScheme::exact;
        const std::size_t last = exact ? spec.largest : std::min(table.bytes_of(table.count() - 1), spec.largest);
        Rig rig{spec};
        rig.put(rig.take(last), last);  // there is one to be had
        for (const std::size_t bytes : {last + 1, 2 * last + 1}) {
            const std::uint64_t before = rig.upstream.allocated_bytes();
            void* const block = rig.take(bytes);
            CHECK(rig.upstream.allocated_bytes() - before >= bytes);
            rig.put(block, bytes);
        }
    }
}

TEST_CASE("class pool: the shipped code's short blocks are found and not handed out", "[unit]")
{
    model::PoolSpec spec = classes();
    spec.classes = model::ClassScheme::dotcompute_code;
    Rig rig{spec};
    void* const none_idle = rig.take(300 * mebibytes);
    CHECK(rig.pool.stats().short_blocks == 0);
    void* const last_class = rig.take(256 * mebibytes);
    rig.put(last_class, 256 * mebibytes);
    void* const larger = rig.take(300 * mebibytes);
    CHECK(larger != last_class);
    CHECK(rig.pool.stats().short_blocks == 1);
    rig.put(larger, 300 * mebibytes);
    rig.put(none_idle, 300 * mebibytes);
    CHECK(rig.pool.stats().bypasses == 2);
}

TEST_CASE("class pool: bounds by bytes and by count", "[unit]")
{
    SECTION("in all")
    {
        model::PoolSpec spec = store_only();
        spec.limit_bytes = 5000;
        Rig rig{spec};
        std::array<void*, 3> held{rig.take(2048), rig.take(2048), rig.take(2048)};
        for (void* const one : held) {
            rig.put(one, 2048);
        }
        CHECK(rig.pool.stats().idle_bytes == 4096);
        CHECK(rig.pool.stats().evictions == 1);
        CHECK(rig.upstream.live_bytes() == 4096);
    }
    SECTION("of a class, by count")
    {
        model::PoolSpec spec = store_only();
        spec.per_class = 1;
        Rig rig{spec};
        std::array<void*, 2> held{rig.take(16), rig.take(16)};
        void* const other = rig.take(64);
        rig.put(held[0], 16);
        rig.put(held[1], 16);
        rig.put(other, 64);
        CHECK(rig.pool.stats().idle_bytes == 16 + 64);
    }
    SECTION("of a class, by bytes")
    {
        model::PoolSpec spec = store_only();
        spec.class_bytes = 100;
        Rig rig{spec};
        std::array<void*, 2> held{rig.take(64), rig.take(64)};
        rig.put(held[0], 64);
        rig.put(held[1], 64);
        CHECK(rig.pool.stats().idle_bytes == 64);
    }
    SECTION("of threads and depots, by bytes: large blocks go to the common store at once")
    {
        Rig rig{classes()};
        void* const large = rig.take(64 * mebibytes);
        rig.put(large, 64 * mebibytes);
        CHECK(rig.take(64 * mebibytes) == large);
        CHECK(rig.pool.stats().common_hits == 1);
        rig.put(large, 64 * mebibytes);
    }
}

TEST_CASE("class pool: each rule gives up its own victim", "[unit]")
{
    // Blocks of 1 KiB, 2 KiB and 4 KiB lie idle, in this order of arrival, and the pool is full. The class of 1 KiB has
    // been hit most, that of 2 KiB was used longest ago.
    struct Expected {
        model::Eviction rule;
        std::size_t gone;
    };
    const std::array<Expected, 5> table{{{model::Eviction::returned, 512},
                                         {model::Eviction::fifo, 2048},
                                         {model::Eviction::lru, 2048},
                                         {model::Eviction::lfu, 4096},
                                         {model::Eviction::largest, 4096}}};
    for (const Expected& expected : table) {
        INFO("rule " << model::name_of(expected.rule));
        model::PoolSpec spec = store_only();
        spec.on_full = expected.rule;
        spec.limit_bytes = 7 * 1024;
        Rig rig{spec};
        void* const two = rig.take(2048);
        void* const one = rig.take(1024);
        void* const four = rig.take(4096);
        void* const half = rig.take(512);
        rig.put(two, 2048);
        REQUIRE(rig.take(2048) == two);  // one hit
        rig.put(two, 2048);
        rig.put(four, 4096);
        for (int i = 0; i < 3; ++i) {
            rig.put(one, 1024);
            REQUIRE(rig.take(1024) == one);  // three
        }
        rig.put(one, 1024);
        CHECK(rig.upstream.deallocations() == 0);
        rig.put(half, 512);
        std::vector<std::size_t> gone;
        for (const auto& [block, bytes] :
             {std::pair{half, 512U}, std::pair{one, 1024U}, std::pair{two, 2048U}, std::pair{four, 4096U}}) {
            if (rig.take(bytes) != block) {
                gone.push_back(bytes);
            }
        }
        CHECK(gone == std::vector{expected.gone});
    }
}

TEST_CASE("class pool: a trim gives back what is asked, and no more than must be", "[unit]")
{
    Rig rig{classes()};
    std::vector<void*> held(100);
    for (void*& one : held) {
        one = rig.take(1024);
    }
    for (void* const one : held) {
        rig.put(one, 1024);
    }
    CHECK(rig.pool.trim(200 * 1024) == 0);
    CHECK(rig.pool.trim(50 * 1024) == 50 * 1024);
    CHECK(rig.upstream.live_bytes() == 50 * 1024);
    CHECK(rig.pool.stats().idle_bytes == 50 * 1024);
    CHECK(rig.pool.stats().released_bytes == 50 * 1024);
    CHECK(rig.pool.stats().trims == 1);
    CHECK(rig.pool.trim(0) == 50 * 1024);
    CHECK(rig.upstream.live_bytes() == 0);
    CHECK(rig.pool.stats().held_bytes == 0);
    CHECK(rig.pool.stats().held_bytes_peak == 100 * 1024);
}

TEST_CASE("class pool: a trim takes what threads left that have ended", "[unit]")
{
    Rig rig{classes()};
    std::thread{[&] { rig.put(rig.take(1024), 1024); }}.join();
    CHECK(rig.pool.stats().idle_bytes == 1024);
    CHECK(rig.pool.trim(0) == 1024);
    CHECK(rig.upstream.live_bytes() == 0);
}

TEST_CASE("class pool: when the upstream refuses, what is idle is given back and it is asked again", "[unit]")
{
    NullResource null;
    Counters counters;
    CountingAdaptor counted{null, counters};
    LimitingAdaptor limiting{counted, 4096};
    ClassPool pool{classes(), limiting};
    const Allocation first = pool.allocate(4096, 16);
    pool.deallocate(first.ptr, 4096, 16);
    const Allocation second = pool.allocate(2048, 16);  // of another class
    CHECK(second.status == AllocStatus::ok);
    CHECK(counters.live_bytes() == 2048);
    CHECK(pool.allocate(4096, 16).status == AllocStatus::over_limit);
    CHECK(pool.stats().misses == 2);
    pool.deallocate(second.ptr, 2048, 16);
}

TEST_CASE("class pool: a refused request leaves nothing acquired", "[unit]")
{
    NullResource null;
    FailingAdaptor failing{null, 1};
    ClassPool pool{classes(), failing};
    CHECK(pool.allocate(100, 16).status == AllocStatus::injected);
    CHECK(pool.allocate(100, 4096).status == AllocStatus::injected);
    CHECK(pool.stats().held_bytes == 0);
    CHECK(pool.stats().misses == 0);
}

TEST_CASE("class pool: stricter alignment goes past the pool, also when it is asked for again", "[unit]")
{
    for (const std::uint32_t alignment : {1U, 8U, 16U, 64U}) {
        INFO("a pool aligned to " << alignment);
        model::PoolSpec spec = classes();
        spec.alignment = alignment;
        Rig rig{spec};
        for (std::uint64_t times = 1; times <= 3; ++times) {
            const Allocation fine = rig.pool.allocate(100, alignment);
            rig.pool.deallocate(fine.ptr, 100, alignment);
            CHECK(rig.pool.stats().idle_bytes == 128);
            const Allocation strict = rig.pool.allocate(100, std::size_t{2} * alignment);
            CHECK(rig.pool.stats().bypasses == times);
            rig.pool.deallocate(strict.ptr, 100, std::size_t{2} * alignment);
            CHECK(rig.upstream.live_bytes() == 128);
        }
        CHECK(rig.pool.stats().thread_hits == 2);
    }
}

TEST_CASE("class pool: zeros by each rule", "[unit]")
{
    for (const auto& rule : model::names<model::ZeroRule>()) {
        INFO("rule " << rule.name);
        model::PoolSpec spec = classes();
        spec.zeros = rule.value;
        PageResource pages{model::PageKind::system};  // mapped memory reads as zeros
        ClassPool pool{spec, pages};
        for (int round = 0; round < 3; ++round) {
            const Allocation dirty = pool.allocate(700, 16);
            std::memset(dirty.ptr, 0xA5, 700);
            pool.deallocate(dirty.ptr, 700, 16);
            const Allocation zeroed = pool.allocate_zeroed(1000, 16);
            const std::array<unsigned char, 1000> zeros{};
            CHECK(std::memcmp(zeroed.ptr, zeros.data(), zeros.size()) == 0);
            CHECK((zeroed.ptr != dirty.ptr) == (rule.value == model::ZeroRule::fresh));
            pool.deallocate(zeroed.ptr, 1000, 16);
        }
    }
}

TEST_CASE("class pool: counts start again, what is held does not", "[unit]")
{
    Rig rig{classes()};
    void* const block = rig.take(1000);
    rig.put(block, 1000);
    rig.put(rig.take(1000), 1000);
    rig.pool.reset_counts();
    PoolStats stats = rig.pool.stats();
    CHECK(stats.hits() == 0);
    CHECK(stats.misses == 0);
    CHECK(stats.requested_bytes == 0);
    CHECK(stats.held_bytes == 1024);
    CHECK(stats.idle_bytes == 1024);
    rig.put(rig.take(1000), 1000);
    stats = rig.pool.stats();
    CHECK(stats.thread_hits == 1);
    CHECK(stats.served_bytes == 1024);
}

TEST_CASE("class pool: what eight threads take and return elsewhere adds up", "[unit]")
{
    for (const auto& topology : model::names<model::PoolTopology>()) {
        model::PoolSpec spec = classes();
        spec.topology = topology.value;
        spec.limit_bytes = 64 * 1024;
        spec.on_full = model::Eviction::lru;
        Rig rig{spec};
        std::array<std::atomic<void*>, 64> slots{};
        constexpr int rounds = 20'000;
        tests::in_parallel(8, [&](std::size_t number) {
            for (int i = 0; i < rounds; ++i) {
                void* const mine = rig.pool.allocate(1024, 16).ptr;
                void* const other = slots[(number * 7 + static_cast<std::size_t>(i)) % slots.size()].exchange(mine);
                if (other != nullptr) {
                    rig.put(other, 1024);
                }
            }
        });
        for (std::atomic<void*>& slot : slots) {
            if (void* const left = slot.exchange(nullptr); left != nullptr) {
                rig.put(left, 1024);
            }
        }
        const PoolStats stats = rig.pool.stats();
        CHECK(stats.hits() + stats.misses == 8 * rounds);
        CHECK(stats.misses == rig.upstream.allocations());
        CHECK(stats.held_bytes == rig.upstream.live_bytes());
        CHECK(stats.idle_bytes == stats.held_bytes);
        CHECK(stats.requested_bytes == 1024ULL * 8 * rounds);
        rig.pool.trim(0);
        CHECK(rig.upstream.live_bytes() == 0);
    }
}

TEST_CASE("class pool: its end gives everything back", "[unit]")
{
    NullResource null;
    Counters counters;
    CountingAdaptor counted{null, counters};
    {
        ClassPool pool{classes(), counted};
        for (std::size_t bytes = 1; bytes < 100'000; bytes *= 3) {
            const Allocation made = pool.allocate(bytes, 16);
            pool.deallocate(made.ptr, bytes, 16);
        }
        CHECK(counters.live_bytes() > 0);
    }
    CHECK(counters.live_bytes() == 0);
}

}  // namespace memsweep::memory
