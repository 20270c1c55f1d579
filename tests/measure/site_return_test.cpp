// What removing a site returns, and from which figure on that is told, by made-up replays.
#include "core/measure/site_return.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tests/support/catch.hpp"

namespace memsweep::tests::returns {
using namespace measure;
namespace {

constexpr std::int64_t mib = 1LL << 20;
constexpr std::int64_t page = 4096;

ReplayedHeap heap(std::vector<std::int64_t> held, std::vector<std::int64_t> given_back)
{
    return {span_of(std::move(held)), span_of(std::move(given_back))};
}

ReplayedHeap exact(std::int64_t held, std::int64_t given_back)
{
    return heap({held, held, held}, {given_back, given_back, given_back});
}

MemoryLedger ledger_of(std::uint64_t heap, std::uint64_t never_a_block)
{
    MemoryLedger ledger;
    const auto put = [&](MemoryCategory category, std::uint64_t bytes) {
        ledger.categories.at(static_cast<std::size_t>(category)).bytes = bytes;
    };
    const std::uint64_t part = heap / 6;
    for (const MemoryCategory category : {MemoryCategory::rounding, MemoryCategory::headers, MemoryCategory::holes,
                                          MemoryCategory::kept_free, MemoryCategory::huge_zero}) {
        put(category, part);
    }
    put(MemoryCategory::live, heap - 5 * part);
    put(MemoryCategory::never_a_block, never_a_block);
    put(MemoryCategory::stacks, 77 * mib);
    put(MemoryCategory::mapped_by_program, 55 * mib);
    return ledger;
}

}  // namespace

TEST_CASE("returned: medians of runs, each figure by itself", "[unit]")
{
    const auto empty = span_of({});
    CHECK((empty.least == 0 && empty.median == 0 && empty.most == 0));
    const auto one = span_of({7});
    CHECK((one.least == 7 && one.median == 7 && one.most == 7));
    std::array<std::int64_t, 3> runs{-5, 3, 40};
    do {
        const auto span = span_of({runs.begin(), runs.end()});
        CHECK((span.least == -5 && span.median == 3 && span.most == 40));
    } while (std::ranges::next_permutation(runs).found);

    const SiteReturn result =
        site_return(heap({100, 110, 150}, {40, 40, 41}), heap({30, 20, 25}, {60, 50, 55}), 3, std::nullopt);
    CHECK(result.runs == 3);
    CHECK(result.as_it_is.bytes == 110 - 25);
    CHECK(result.as_it_is.spread == (150 - 20) - (100 - 30));
    CHECK(result.after_request.bytes == 40 - 55);
    CHECK(result.after_request.spread == (41 - 50) - (40 - 60));
    CHECK_FALSE(result.as_it_is.replay_error.has_value());
}

TEST_CASE("returned: a figure is told from ten times its error on", "[unit]")
{
    constexpr std::array<std::uint64_t, 7> errors{0, 1, page, 16 * page, 300 * page, 1U << 20U, 5U << 20U};
    for (const std::uint64_t spread : errors) {
        for (const std::uint64_t replay : errors) {
            const std::uint64_t error = std::max(spread, replay);
            const auto edge = static_cast<std::int64_t>(10 * error);
            for (const std::int64_t sign : {1, -1}) {
                const auto figure = [&](std::int64_t bytes) {
                    return ReturnedBytes{.bytes = sign * bytes, .spread = spread, .replay_error = replay};
                };
                CHECK(figure(edge).error() == error);
                CHECK(figure(edge).is_told());
                CHECK(figure(edge + 1).is_told());
                CHECK(figure(100 * mib).is_told());
                if (error != 0) {
                    CHECK_FALSE(figure(edge - 1).is_told());
                    CHECK_FALSE(figure(0).is_told());
                }
            }
            const ReturnedBytes unchecked{.bytes = 10 * static_cast<std::int64_t>(spread), .spread = spread};
            CHECK(unchecked.error() == spread);
            CHECK(unchecked.is_told());
        }
    }
    const ReturnedBytes nothing{.bytes = 0, .spread = 0, .replay_error = 0};
    CHECK(nothing.is_told());
}

TEST_CASE("returned: the error of a replay is all that it has more or less than blocks", "[unit]")
{
    constexpr std::array<std::int64_t, 6> offs{-2 * mib, -page, 0, page, mib, 3 * mib};
    constexpr std::array<std::uint64_t, 3> others{0, 512U << 10U, 2U << 20U};
    for (const std::int64_t off : offs) {
        for (const std::uint64_t never : others) {
            const ReplayedHeap whole = exact(20 * mib + off, 5 * mib + 2 * off);
            const ReplayCheck check = replay_check(whole, ledger_of(20 * mib, never), 15 * mib);
            CHECK(check.measured == 20 * mib);
            CHECK(check.never_a_block == never);
            CHECK(check.error() == static_cast<std::uint64_t>(std::abs(off)));
            CHECK(check.error_after_request() == static_cast<std::uint64_t>(std::abs(2 * off)));
            const double outside = off < 0 ? static_cast<double>(-off)
                                           : std::max(0.0, static_cast<double>(off) - static_cast<double>(never));
            CHECK(check.off() == outside / (20.0 * mib));
            CHECK(check.is_usable() == (outside <= 1.0 * mib));

            const ReplayCheck untried = replay_check(whole, ledger_of(20 * mib, never), std::nullopt);
            CHECK(untried.error_after_request() == untried.error());
        }
    }
    CHECK(replay_check(exact(0, 0), {}, std::nullopt).off() == 0);
    CHECK_FALSE(replay_check(exact(mib, 0), {}, std::nullopt).is_usable());
}

TEST_CASE("returned: a request may return more than the heap, and of what was there before", "[unit]")
{
    const ReplayCheck check = replay_check(exact(20 * mib, -page), ledger_of(20 * mib, 0), 21 * mib);
    CHECK(check.after_request->measured == 0);
    CHECK(check.after_request->resident == -page);
    CHECK(check.error_after_request() == page);
    CHECK(replay_check(exact(-page, 0), ledger_of(0, 0), std::nullopt).resident == 0);
}

TEST_CASE("returned: each figure is judged by its own state", "[unit]")
{
    const ReplayedHeap whole = exact(20 * mib, 8 * mib);
    const ReplayedHeap rest = exact(10 * mib, 7 * mib);
    const SiteReturn near = site_return(whole, rest, 3, replay_check(whole, ledger_of(20 * mib, 0), 12 * mib));
    CHECK(near.as_it_is.is_told());
    CHECK(near.after_request.is_told());
    const SiteReturn after = site_return(whole, rest, 3, replay_check(whole, ledger_of(20 * mib, 0), 13 * mib));
    CHECK(after.as_it_is.is_told());
    CHECK_FALSE(after.after_request.is_told());
    const SiteReturn before = site_return(whole, rest, 3, replay_check(whole, ledger_of(18 * mib, 0), 10 * mib));
    CHECK_FALSE(before.as_it_is.is_told());
    CHECK(before.after_request.is_told());
    const auto scattered = heap({10 * mib, 10 * mib, 12 * mib}, {7 * mib, 7 * mib, 7 * mib});
    const SiteReturn spread = site_return(whole, scattered, 3, replay_check(whole, ledger_of(20 * mib, 0), 12 * mib));
    CHECK_FALSE(spread.as_it_is.is_told());
    CHECK(spread.after_request.is_told());
}

}  // namespace memsweep::tests::returns
