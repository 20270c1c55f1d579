// What every discipline promises, run over all of them: it may delay a free, it never skips, repeats or hastens one.
#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/base/assert.hpp"
#include "core/base/rng.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/adaptors.hpp"
#include "tests/lifetime/contract_subjects.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/lifetime/tracking_resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::lifetime {
namespace {

using tests::Fate;
using tests::Subject;

// A heap over memory that is watched, used as a program without mistakes would use it.
struct Rig {
    explicit Rig(const Subject& of) : subject{of}, heap{std::make_unique<Heap>(counting, of.spec)}
    {
        if (subject.fate == Fate::scoped) {
            heap->enter_scope();
        }
    }

    Buffer make(std::uint64_t bytes, unsigned char stamp)
    {
        auto made = heap->allocate(bytes, 16, stamp % 2 == 0);
        MEMSWEEP_ASSERT(made.status == memory::AllocStatus::ok, "a test's allocation is granted");
        std::memset(made.buffer.data(), stamp, bytes);
        return std::move(made.buffer);
    }

    // Where a program frees by hand it does so before its last handle goes.
    void let_go(Buffer& buffer)
    {
        if (subject.manual() && buffer.unique()) {
            heap->free(buffer);
        }
        buffer.reset();
    }
    void let_go(Buffer&& buffer) { let_go(buffer); }

    void collect_and_drain()
    {
        for (std::uint64_t i = 0; i < subject.collections; ++i) {
            heap->collect();
            heap->drain();
        }
    }

    // Collected, drained, and in an arena the scope ended.
    void settle()
    {
        collect_and_drain();
        if (subject.fate == Fate::scoped) {
            heap->leave_scope(false);
            heap->enter_scope();
        }
    }

    [[nodiscard]] std::uint64_t outstanding() const
    {
        std::uint64_t count = 0;
        heap->each_outstanding([&count](const Heap::Outstanding&) { ++count; });
        return count;
    }

    const Subject& subject;
    tests::TrackingResource resource;
    memory::Counters counters;
    memory::CountingAdaptor counting{resource, counters};
    std::unique_ptr<Heap> heap;
};

void for_each_subject(const std::function<void(const Subject&, Rig&)>& check)
{
    for (const Subject& subject : tests::contract_subjects()) {
        INFO("discipline: " << subject.name);
        Rig rig{subject};
        check(subject, rig);
        CHECK(rig.resource.wrong_frees() == 0);
        rig.heap.reset();
        CHECK(rig.resource.wrong_frees() == 0);
        CHECK(rig.resource.live_bytes() == rig.counters.live_bytes());
    }
}

// Three accounts of the same memory: what the resource has given out, what the program holds, what the discipline says
// of the rest. They are read one by one: what other threads are freeing is freed first.
void check_account(const Rig& rig, std::uint64_t held_bytes)
{
    rig.heap->drain();
    const DisciplineStats stats = rig.heap->stats();
    const std::uint64_t live = rig.counters.live_bytes();
    REQUIRE(rig.resource.live_bytes() == live);
    REQUIRE(stats.queue_depth <= stats.floating_blocks);
    REQUIRE(stats.floating_bytes <= stats.floating_bytes_peak);
    if (rig.subject.fate == Fate::scoped) {
        REQUIRE(live >= held_bytes + stats.floating_bytes);  // whole slabs
    } else if (rig.subject.fate != Fate::stacked) {
        REQUIRE(live == held_bytes + stats.floating_bytes + stats.idle_bytes);
    }
}

// After settle(), with no handle left on anything that was made.
void check_settled(const Rig& rig, std::uint64_t made_bytes, std::uint64_t made)
{
    const bool lost = rig.subject.fate == Fate::lost;
    const DisciplineStats stats = rig.heap->stats();
    CHECK(stats.floating_bytes == (lost ? made_bytes : 0));
    CHECK(stats.floating_blocks == (lost ? made : 0));
    CHECK(stats.queue_depth == 0);
    CHECK(rig.outstanding() == (lost ? made : 0));
    const std::uint64_t stays = stats.floating_bytes + stats.idle_bytes;
    switch (rig.subject.fate) {
    case Fate::scoped:
        if (rig.subject.spec.mode != model::ReleaseMode::arena_autoscale) {  // which keeps its main buffer
            CHECK(rig.counters.live_bytes() == 0);
        }
        break;
    case Fate::stacked:
        CHECK(rig.counters.live_bytes() == rig.subject.spec.cache.stack_bytes);
        break;
    case Fate::freed:
    case Fate::found:
    case Fate::kept:
    case Fate::lost:
        CHECK(rig.counters.live_bytes() == stays);
        break;
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

TEST_CASE("every mode has its place in the contract", "[unit]")
{
    std::set<model::ReleaseMode> covered;
    for (const Subject& subject : tests::contract_subjects()) {
        covered.insert(subject.spec.mode);
    }
    CHECK(covered.size() == model::names<model::ReleaseMode>().size());
}

TEST_CASE("everything dropped is freed exactly once after collect and drain", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        std::vector<Buffer> buffers;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < 500; ++i) {
            buffers.push_back(rig.make(10 + i, stamp_of(i)));
            total += subject.granted(10 + i);
        }
        check_account(rig, total);
        CHECK(rig.outstanding() == 500);
        for (Buffer& buffer : buffers) {
            rig.let_go(buffer);
        }
        if (subject.fate == Fate::freed) {
            CHECK(rig.counters.live_bytes() == 0);
            CHECK(rig.resource.freed().size() == 500);
        }
        check_account(rig, 0);
        rig.settle();
        check_settled(rig, total, 500);
        if (subject.fate == Fate::freed || subject.fate == Fate::found) {
            CHECK(rig.resource.freed().size() == 500);
            CHECK(rig.counters.deallocations() == 500);
        }
    });
}

TEST_CASE("nothing that still has a handle is freed", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        std::vector<Buffer> kept;
        for (std::size_t i = 0; i < 300; ++i) {
            Buffer buffer = rig.make(100, stamp_of(i));
            if (i % 3 == 0) {
                kept.push_back(buffer);  // a second handle outlives the first
            }
            rig.let_go(buffer);
        }
        rig.collect_and_drain();
        for (std::size_t i = 0; i < kept.size(); ++i) {
            REQUIRE(intact(kept[i], stamp_of(3 * i)));
            REQUIRE(kept[i].unique());
        }
        check_account(rig, kept.size() * subject.granted(100));
    });
}

TEST_CASE("what is live is held, idle or floating, whatever has happened", "[unit]")
{
    struct Held {
        Buffer buffer;
        unsigned char stamp;
    };
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    for_each_subject([seed](const Subject& subject, Rig& rig) {
        base::Rng rng{seed};
        std::vector<Held> held;
        std::uint64_t held_bytes = 0;
        std::uint64_t most_floating = 0;
        for (std::size_t i = 0; i < 2000; ++i) {
            const std::uint64_t action = rng.below(100);
            if (action < 50) {
                held.push_back({rig.make(1 + rng.below(200), stamp_of(i)), stamp_of(i)});
                held_bytes += subject.granted(held.back().buffer.bytes());
            } else if (action < 97 && !held.empty()) {
                std::swap(held[rng.below(held.size())], held.back());
                REQUIRE(intact(held.back().buffer, held.back().stamp));
                held_bytes -= subject.granted(held.back().buffer.bytes());
                rig.let_go(held.back().buffer);
                held.pop_back();
            } else if (action == 97) {
                rig.heap->collect();
            }
            check_account(rig, held_bytes);
            most_floating = std::max(most_floating, rig.heap->stats().floating_bytes);
            REQUIRE(rig.heap->stats().floating_bytes_peak >= most_floating);
        }
    });
}

TEST_CASE("memory asked to be zero is, whatever lay there before", "[unit]")
{
    for_each_subject([](const Subject&, Rig& rig) {
        for (int i = 0; i < 20; ++i) {
            rig.let_go(rig.make(100, 0xA5));
            auto made = rig.heap->allocate(100, 16, true);
            REQUIRE(intact(made.buffer, 0));
            rig.let_go(made.buffer);
            rig.settle();
        }
    });
}

TEST_CASE("the heap's end frees what its discipline still holds", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        for (std::size_t i = 0; i < 105; ++i) {
            rig.let_go(rig.make(100, stamp_of(i)));
        }
        rig.heap.reset();
        CHECK(rig.counters.live_bytes() == (subject.fate == Fate::lost ? 10'500U : 0U));
        CHECK(rig.resource.live_bytes() == (subject.fate == Fate::lost ? 10'500U : 0U));
    });
}

TEST_CASE("the heap's end right after a collection frees everything, once", "[unit]")
{
    for (int round = 0; round < 20; ++round) {
        for_each_subject([](const Subject& subject, Rig& rig) {
            for (std::size_t i = 0; i < 30; ++i) {
                rig.let_go(rig.make(100, stamp_of(i)));
            }
            rig.heap->collect();
            rig.let_go(rig.make(100, 0));
            rig.heap.reset();
            CHECK(rig.counters.live_bytes() == (subject.fate == Fate::lost ? 3100U : 0U));
        });
    }
}

TEST_CASE("a refused allocation leaves nothing acquired and says who refused it", "[unit]")
{
    for (const Subject& subject : tests::contract_subjects()) {
        INFO("discipline: " << subject.name);
        tests::TrackingResource resource;
        memory::Counters counters;
        memory::FailingAdaptor failing{resource, 2};
        memory::CountingAdaptor counting{failing, counters};
        std::uint64_t refused = 0;
        {
            Heap heap{counting, subject.spec};
            std::vector<Buffer> held;
            for (int i = 1; i <= 100; ++i) {
                Heap::Result result = heap.allocate(subject.one_each() ? 100 : 3000, 16, i % 3 == 0);
                const bool granted = result.status == memory::AllocStatus::ok;
                REQUIRE((granted || result.status == memory::AllocStatus::injected));
                REQUIRE(static_cast<bool>(result.buffer) == granted);
                refused += granted ? 0 : 1;
                if (granted) {
                    held.push_back(std::move(result.buffer));
                }
            }
            for (Buffer& buffer : held) {
                if (subject.manual()) {
                    heap.free(buffer);
                }
                buffer.reset();
            }
        }
        CHECK(refused == counters.refusals());
        CHECK(refused >= (subject.one_each() ? 50U : 1U));
        CHECK(resource.live_bytes() == (subject.fate == Fate::lost ? 5000U : 0U));
        CHECK(resource.wrong_frees() == 0);
    }
}

TEST_CASE("empty buffers are buffers", "[unit]")
{
    for_each_subject([](const Subject&, Rig& rig) {
        for (int i = 0; i < 20; ++i) {
            auto made = rig.heap->allocate(0, 16, i % 2 == 0);
            CHECK(made.status == memory::AllocStatus::ok);
            CHECK(made.buffer);
            CHECK(made.buffer.bytes() == 0);
            rig.let_go(made.buffer);
        }
        rig.settle();
        CHECK(rig.heap->stats().floating_bytes == 0);
    });
}

TEST_CASE("the peaks start again when reset", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        for (std::size_t i = 0; i < 9; ++i) {
            rig.let_go(rig.make(100, 1));
        }
        rig.settle();
        rig.heap->reset_counts();
        const DisciplineStats stats = rig.heap->stats();
        CHECK(stats.floating_bytes_peak == (subject.fate == Fate::lost ? 900U : 0U));
        CHECK(stats.queue_depth_peak == 0);
        CHECK(stats.collections == 0);
        CHECK(stats.release_latency.count == 0);
    });
}

TEST_CASE("a buffer shared by 32 threads 1000 times each is released once", "[unit]")
{
    for_each_subject([](const Subject& subject, Rig& rig) {
        Buffer shared = rig.make(64, 7);
        std::atomic<int> spoiled{0};
        tests::in_parallel(subject.threads(32), [&](std::size_t) {
            for (int i = 0; i < 1000; ++i) {
                const Buffer copy = shared;
                spoiled += intact(copy, 7) ? 0 : 1;
            }
        });
        CHECK(spoiled == 0);
        CHECK(shared.unique());
        CHECK(rig.heap->stray_releases() == 0);
        CHECK(rig.outstanding() == 1);
        rig.let_go(shared);
        rig.settle();
        check_settled(rig, subject.granted(64), 1);
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
        tests::in_parallel(subject.threads(8), [&](std::size_t number) {
            base::Rng rng{seed + number};
            std::vector<std::pair<Buffer, unsigned char>> own;
            for (int i = 0; i < 500; ++i) {
                const auto stamp = static_cast<unsigned char>(rng.below(200));
                Buffer fresh = rig.make(2 + rng.below(300), stamp);
                spoiled += intact(fresh, stamp) ? 0 : 1;
                Slot& slot = slots[rng.below(slots.size())];
                {
                    const std::lock_guard lock{slot.mutex};
                    if (slot.buffer) {
                        own.emplace_back(slot.buffer, slot.stamp);
                    }
                    std::swap(slot.buffer, fresh);
                    slot.stamp = stamp;
                }
                rig.let_go(fresh);
                if (own.size() > 8) {
                    const auto& one = own[rng.below(own.size())];
                    spoiled += intact(one.first, one.second) ? 0 : 1;
                    rig.let_go(own.front().first);
                    own.erase(own.begin());
                }
                if (rng.below(50) == 0) {
                    rig.heap->collect();
                }
                if (rng.below(100) == 0) {
                    rig.heap->drain();
                }
            }
            for (auto& [buffer, stamp] : own) {
                spoiled += intact(buffer, stamp) ? 0 : 1;
                rig.let_go(buffer);
            }
        });
        for (Slot& slot : slots) {
            rig.let_go(slot.buffer);
        }
        rig.settle();
        CHECK(spoiled == 0);
        CHECK(rig.heap->stray_releases() == 0);
        check_account(rig, 0);
        if (!subject.may_lose()) {
            check_settled(rig, 0, 0);
        }
        if (subject.fate == Fate::freed || subject.fate == Fate::found) {
            CHECK(rig.counters.allocations() == subject.threads(8) * 500);
        }
    });
}

TEST_CASE("threads come and go, and free what others have made", "[unit]")
{
    struct Shared {
        std::mutex mutex;
        std::vector<std::pair<Buffer, unsigned char>> left;
    };
    for_each_subject([](const Subject& subject, Rig& rig) {
        constexpr std::size_t waves = 25;  // in all more threads than any cache of threads has room for
        Shared shared;
        std::atomic<int> spoiled{0};
        std::atomic<std::uint64_t> made_bytes{0};
        for (std::size_t wave = 0; wave < waves; ++wave) {
            tests::in_parallel(subject.threads(4), [&](std::size_t number) {
                for (std::size_t i = 0; i < 20; ++i) {
                    const unsigned char stamp = stamp_of(wave + 31 * number + i);
                    Buffer fresh = rig.make(8 + i % 5 * 16, stamp);
                    made_bytes += subject.granted(fresh.bytes());
                    std::pair<Buffer, unsigned char> other;
                    {
                        const std::lock_guard lock{shared.mutex};
                        shared.left.emplace_back(std::move(fresh), stamp);
                        if (shared.left.size() > 30) {
                            other = std::exchange(shared.left.front(), std::move(shared.left.back()));
                            shared.left.pop_back();
                        }
                    }
                    spoiled += !other.first || intact(other.first, other.second) ? 0 : 1;
                    rig.let_go(other.first);
                }
            });
        }
        for (auto& [buffer, stamp] : shared.left) {
            spoiled += intact(buffer, stamp) ? 0 : 1;
            rig.let_go(buffer);
        }
        CHECK(spoiled == 0);
        rig.settle();
        check_settled(rig, made_bytes, waves * subject.threads(4) * 20);
    });
}

}  // namespace memsweep::lifetime
