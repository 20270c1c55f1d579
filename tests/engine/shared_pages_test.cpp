#include "core/engine/command/shared_pages.hpp"

#include <chrono>
#include <vector>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace std::chrono_literals;
using engine::SharedPages;

namespace {

constexpr std::uint64_t mib = 1U << 20;
constexpr SharedPages::TimePoint start{1h};

// A tree whose processes 1 and 2 share pages.
sys::TreeSample tree(std::uint64_t bytes, std::uint64_t faults = 0)
{
    return {
        .processes = 2, .working_set_bytes = bytes, .minor_faults = faults, .sharers = {1, 2}, .sharers_bytes = bytes};
}

// At `start`, of 100 MiB of which 40 are counted twice.
SharedPages walked_once()
{
    SharedPages shared;
    static_cast<void>(shared.is_walk_due(tree(100 * mib), 0, start));
    shared.walked(tree(100 * mib), 60 * mib, start + 1s);
    return shared;
}

}  // namespace

TEST_CASE("shared pages: a tree that shares nothing needs no walk", "[unit]")
{
    SharedPages shared;
    sys::TreeSample apart = tree(100 * mib);
    apart.sharers.clear();
    CHECK_FALSE(shared.is_walk_due(apart, 0, start));
    CHECK_FALSE(shared.is_walk_due(apart, 0, start + 1h));
    CHECK(shared.least_bytes(apart) == 100 * mib);
    CHECK_FALSE(shared.has_walked());
}

TEST_CASE("shared pages: a walk waits until the tree rests", "[unit]")
{
    SharedPages shared;
    CHECK_FALSE(shared.is_walk_due(tree(50 * mib), 0, start));
    CHECK_FALSE(shared.is_walk_due(tree(90 * mib), 0, start + 5ms));
    CHECK_FALSE(shared.is_walk_due(tree(90 * mib, 10'000), 0, start + 10ms));  // copies
    CHECK_FALSE(shared.least_bytes(tree(90 * mib)));
    CHECK(shared.is_walk_due(tree(90 * mib, 10'001), 0, start + 15ms));
}

TEST_CASE("shared pages: a tree that never rests is walked through after a while", "[unit]")
{
    SharedPages shared;
    std::uint64_t bytes = 50 * mib;
    for (auto at = start; at < start + SharedPages::patience; at += 5ms) {
        CHECK_FALSE(shared.is_walk_due(tree(bytes += mib), 0, at));
    }
    CHECK(shared.is_walk_due(tree(bytes += mib), 0, start + SharedPages::patience));
}

TEST_CASE("shared pages: patience begins anew when a walk is of interest again", "[unit]")
{
    SharedPages shared;
    CHECK_FALSE(shared.is_walk_due(tree(50 * mib), 40 * mib, start));
    CHECK_FALSE(shared.is_walk_due(tree(30 * mib), 40 * mib, start + 100ms));
    CHECK_FALSE(shared.is_walk_due(tree(60 * mib), 40 * mib, start + 1s));
    CHECK(shared.is_walk_due(tree(60 * mib), 40 * mib, start + 1005ms));
}

TEST_CASE("shared pages: no walk where it could show nothing of interest", "[unit]")
{
    SharedPages shared;
    CHECK_FALSE(shared.is_walk_due(tree(100 * mib), 100 * mib, start));
    CHECK_FALSE(shared.is_walk_due(tree(100 * mib), 100 * mib, start + 5ms));
    CHECK(shared.is_walk_due(tree(100 * mib), 99 * mib, start + 10ms));
}

TEST_CASE("shared pages: after a walk, memory is as much as was found and what is new", "[unit]")
{
    SharedPages shared = walked_once();
    const auto later = start + 2s;
    CHECK_FALSE(shared.is_walk_due(tree(100 * mib), 60 * mib, later));
    const std::uint64_t copies = 10 * mib / sys::page_size();
    const sys::TreeSample copied = tree(100 * mib, copies);
    CHECK_FALSE(shared.is_walk_due(copied, 70 * mib, later + 5ms));
    CHECK(shared.is_walk_due(copied, 69 * mib, later + 10ms));
    const sys::TreeSample grown = tree(120 * mib, copies);
    CHECK_FALSE(shared.is_walk_due(grown, 90 * mib, later + 15ms));
    CHECK(shared.is_walk_due(grown, 89 * mib, later + 20ms));
    // No more than the processes have, however many faults there were.
    CHECK_FALSE(shared.is_walk_due(tree(100 * mib, 100 * copies), 100 * mib, later + 25ms));
}

TEST_CASE("shared pages: walks keep their distance", "[unit]")
{
    SharedPages shared = walked_once();
    CHECK_FALSE(shared.is_walk_due(tree(100 * mib), 0, start + 1s - 1ns));
    CHECK(shared.is_walk_due(tree(100 * mib), 0, start + 1s));
}

TEST_CASE("shared pages: between walks no more is claimed than is certain", "[unit]")
{
    const SharedPages shared = walked_once();
    CHECK(shared.least_bytes(tree(100 * mib)) == 60 * mib);
    CHECK(shared.least_bytes(tree(130 * mib)) == 90 * mib);
    CHECK(shared.least_bytes(tree(30 * mib)) == 0U);
    sys::TreeSample one_has_ended = tree(70 * mib);
    one_has_ended.sharers = {2};
    CHECK(shared.least_bytes(one_has_ended) == 30 * mib);
    sys::TreeSample forked = tree(150 * mib);
    forked.sharers = {1, 2, 3};
    CHECK_FALSE(shared.least_bytes(forked));
    sys::TreeSample met = tree(100 * mib);
    met.several_have_shared_memory = true;  // which another of them may have mapped since
    CHECK_FALSE(shared.least_bytes(met));
    sys::TreeSample apart = tree(100 * mib);
    apart.sharers.clear();
    CHECK(shared.least_bytes(apart) == 100 * mib);
}

TEST_CASE("shared pages: a walk that found more than the sample before it takes nothing away", "[unit]")
{
    SharedPages shared;
    shared.walked(tree(100 * mib), 110 * mib, start);
    CHECK(shared.least_bytes(tree(100 * mib)) == 100 * mib);
}
