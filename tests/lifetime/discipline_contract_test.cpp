// What every discipline promises, run over all of them: it may delay a free, it never skips, repeats or hastens one.
#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/counting_adaptor.hpp"
#include "core/memory/failing_adaptor.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;

struct Subject {
    std::string name;
    model::ReleaseSpec spec;
    [[nodiscard]] bool leaks() const { return spec.mode == ReleaseMode::leak; }
};

std::vector<Subject> subjects()
{
    return {{"refcount", {}},
            {"finalizer", {.mode = ReleaseMode::finalizer}},
            {"three finalizers", {.mode = ReleaseMode::finalizer, .finalizer_threads = 3}},
            {"collecting finalizer", {.mode = ReleaseMode::finalizer, .collect_every = 10}},
            {"gated finalizer", {.mode = ReleaseMode::finalizer, .gated = true, .collect_every = 10}},
            {"two gated finalizers", {.mode = ReleaseMode::finalizer, .finalizer_threads = 2, .gated = true, .collect_every = 3}},
            {"slow finalizer", {.mode = ReleaseMode::finalizer, .release_cost_ns = 20'000, .collect_every = 25}},
            {"batch of 1", {.mode = ReleaseMode::deferred_batch, .batch = 1}},
            {"batch of 16", {.mode = ReleaseMode::deferred_batch}},
            {"huge batch", {.mode = ReleaseMode::deferred_batch, .batch = 1'000'000}},
            {"leak", {.mode = ReleaseMode::leak}}};
}

struct Rig {
    explicit Rig(const model::ReleaseSpec& spec) : heap{std::make_unique<Heap>(counting, spec)} {}

    Buffer make(std::uint64_t bytes, unsigned char stamp)
    {
        auto made = heap->allocate(bytes, 16, stamp % 2 == 0);
        std::memset(made.buffer.data(), stamp, bytes);
        return std::move(made.buffer);
    }

    void collect_and_drain()
    {
        heap->collect();
        heap->drain();
    }

    tests::TrackingResource resource;
    memory::Counters counters;
    memory::CountingAdaptor counting{resource, counters};
    std::unique_ptr<Heap> heap;
};

void for_each_subject(const std::function<void(const Subject&, Rig&)>& check)
{
    for (const Subject& subject : subjects()) {
        INFO("discipline " << subject.name);
        Rig rig{subject.spec};
        check(subject, rig);
        CHECK(rig.resource.wrong_frees() == 0);
    }
}

bool intact(const Buffer& buffer, unsigned char stamp)
{
    const auto* const bytes = static_cast<const unsigned char*>(buffer.data());
    return bytes[0] == stamp && std::memcmp(bytes, bytes + 1, buffer.bytes() - 1) == 0;
}

unsigned char stamp_of(std::size_t i)
{
    return static_cast<unsigned char>(i % 200);  // never the pattern of freed memory
}

}  // namespace

TEST_CASE("everything dropped is freed exactly once after collect and drain", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        std::vector<Buffer> buffers;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < 500; ++i) {
            buffers.push_back(rig.make(10 + i, stamp_of(i)));
            total += 10 + i;
        }
        CHECK(rig.counters.live_bytes == total);
        buffers.clear();
        rig.collect_and_drain();
        const DisciplineStats stats = rig.heap->stats();
        const std::uint64_t expected = subject.leaks() ? total : 0;
        CHECK(rig.counters.live_bytes == expected);
        CHECK(rig.resource.live_bytes() == expected);
        CHECK(stats.floating_bytes == expected);
        CHECK(stats.floating_blocks == (subject.leaks() ? 500U : 0U));
        CHECK(stats.queue_depth == 0);
        CHECK(rig.resource.freed().size() == (subject.leaks() ? 0U : 500U));
    });
}

TEST_CASE("nothing that still has a handle is freed", "[unit]")
{
    for_each_subject([](const Subject&, Rig& rig) {
        std::vector<Buffer> kept;
        for (std::size_t i = 0; i < 300; ++i) {
            Buffer buffer = rig.make(100, stamp_of(i));
            if (i % 3 == 0) {
                kept.push_back(buffer);  // a second handle outlives the first
            }
        }
        rig.collect_and_drain();
        for (std::size_t i = 0; i < kept.size(); ++i) {
            REQUIRE(intact(kept[i], stamp_of(3 * i)));
            REQUIRE(kept[i].unique());
        }
        CHECK(rig.counters.live_bytes == kept.size() * 100 + rig.heap->stats().floating_bytes);
    });
}

TEST_CASE("what is live is held or floating, whatever has happened", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    for_each_subject([seed](const Subject&, Rig& rig) {
        base::Rng rng{seed};
        std::vector<Buffer> held;
        std::uint64_t held_bytes = 0;
        std::uint64_t most_floating = 0;
        for (int i = 0; i < 2000; ++i) {
            const std::uint64_t action = rng.below(100);
            if (action < 50) {
                held.push_back(rig.make(1 + rng.below(200), 1));
                held_bytes += held.back().bytes();
            } else if (action < 97 && !held.empty()) {
                std::swap(held[rng.below(held.size())], held.back());
                held_bytes -= held.back().bytes();
                held.pop_back();
            } else if (action == 97) {
                rig.heap->collect();
            } else if (action == 98) {
                rig.heap->drain();
            }
            // Counters are read one by one: let what is being freed be freed first.
            rig.heap->drain();
            const DisciplineStats stats = rig.heap->stats();
            most_floating = std::max(most_floating, stats.floating_bytes);
            REQUIRE(rig.counters.live_bytes == held_bytes + stats.floating_bytes);
            REQUIRE(rig.resource.live_bytes() == rig.counters.live_bytes);
            REQUIRE(stats.queue_depth <= stats.floating_blocks);
            REQUIRE(stats.floating_bytes_peak >= most_floating);
        }
    });
}

TEST_CASE("the heap's end frees what its discipline still holds", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        for (std::size_t i = 0; i < 105; ++i) {
            static_cast<void>(rig.make(100, stamp_of(i)));
        }
        rig.heap.reset();
        CHECK(rig.counters.live_bytes == (subject.leaks() ? 10'500U : 0U));
        CHECK(rig.resource.live_bytes() == (subject.leaks() ? 10'500U : 0U));
    });
}

TEST_CASE("the heap's end right after a collection frees everything, once", "[unit]")
{
    for (int round = 0; round < 20; ++round) {
        for_each_subject([](const Subject& subject, Rig& rig) {
            for (std::size_t i = 0; i < 30; ++i) {
                static_cast<void>(rig.make(100, stamp_of(i)));
            }
            rig.heap->collect();
            static_cast<void>(rig.make(100, 0));
            rig.heap.reset();
            CHECK(rig.counters.live_bytes == (subject.leaks() ? 3100U : 0U));
        });
    }
}

TEST_CASE("a refused allocation leaves nothing acquired", "[unit]")
{
    for (const Subject& subject : subjects()) {
        INFO("discipline " << subject.name);
        tests::TrackingResource resource;
        memory::Counters counters;
        memory::FailingAdaptor failing{resource, 2};
        memory::CountingAdaptor counting{failing, counters};
        {
            Heap heap{counting, subject.spec};
            for (int i = 1; i <= 100; ++i) {
                const Heap::Result result = heap.allocate(100, 16, i % 3 == 0);
                REQUIRE(result.status == (i % 2 == 0 ? memory::AllocStatus::injected : memory::AllocStatus::ok));
                REQUIRE(static_cast<bool>(result.buffer) == (i % 2 != 0));
            }
        }
        CHECK(counters.refusals == 50);
        CHECK(resource.allocated() == 50);
        CHECK(resource.live_bytes() == (subject.leaks() ? 5000U : 0U));
        CHECK(resource.wrong_frees() == 0);
    }
}

TEST_CASE("empty buffers are buffers", "[unit]")
{
    for_each_subject([](const Subject&, Rig& rig) {
        auto made = rig.heap->allocate(0, 16, false);
        CHECK(made.status == memory::AllocStatus::ok);
        CHECK(made.buffer);
        CHECK(made.buffer.bytes() == 0);
    });
}

TEST_CASE("the peaks start again when told", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        for (std::size_t i = 0; i < 9; ++i) {
            static_cast<void>(rig.make(100, 1));
        }
        rig.collect_and_drain();
        rig.heap->reset_counts();
        const DisciplineStats stats = rig.heap->stats();
        CHECK(stats.floating_bytes_peak == (subject.leaks() ? 900U : 0U));
        CHECK(stats.queue_depth_peak == 0);
    });
}

TEST_CASE("eight threads allocate, share, drop, collect and drain", "[unit]")
{
    struct Slot {
        std::mutex mutex;
        Buffer buffer;
        unsigned char stamp{};
    };
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    for_each_subject([seed](const Subject& subject, Rig& rig) {
        std::array<Slot, 16> slots;
        std::atomic<int> spoiled{0};
        tests::in_parallel(8, [&](std::size_t number) {
            base::Rng rng{seed + number};
            std::vector<std::pair<Buffer, unsigned char>> own;
            for (int i = 0; i < 500; ++i) {
                const auto stamp = static_cast<unsigned char>(rng.below(200));
                Buffer fresh = rig.make(2 + rng.below(300), stamp);
                Slot& slot = slots[rng.below(slots.size())];
                {
                    const std::lock_guard lock{slot.mutex};
                    if (slot.buffer) {
                        own.emplace_back(slot.buffer, slot.stamp);
                    }
                    slot.buffer = fresh;
                    slot.stamp = stamp;
                }
                if (own.size() > 8) {
                    const auto& oldest = own[rng.below(own.size())];
                    spoiled += intact(oldest.first, oldest.second) ? 0 : 1;
                    own.erase(own.begin());
                }
                spoiled += intact(fresh, stamp) ? 0 : 1;
                if (rng.below(50) == 0) {
                    rig.heap->collect();
                }
                if (rng.below(100) == 0) {
                    rig.heap->drain();
                }
            }
        });
        for (Slot& slot : slots) {
            slot.buffer.reset();
        }
        rig.collect_and_drain();
        CHECK(spoiled == 0);
        CHECK(rig.counters.allocations == 4000);
        CHECK(rig.resource.freed().size() == (subject.leaks() ? 0U : 4000U));
        CHECK(rig.counters.live_bytes == rig.heap->stats().floating_bytes);
        CHECK(rig.heap->stray_releases() == 0);
    });
}

}  // namespace memsweep::lifetime
