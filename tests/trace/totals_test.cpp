#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::Event;
using trace::EventKind;

namespace {

Event malloc_at(std::uint64_t address, std::uint64_t size, std::uint32_t process = 1)
{
    return {.kind = EventKind::malloc, .process = process, .address = address, .size = size};
}

Event free_at(std::uint64_t address, std::uint32_t process = 1)
{
    return {.kind = EventKind::free, .process = process, .address = address};
}

trace::Totals totals_of(const std::vector<Event>& events)
{
    trace::Accounting accounting;
    for (const Event& event : events) {
        accounting.add(event);
    }
    return accounting.totals();
}

}  // namespace

TEST_CASE("a realloc is a free and then an allocation", "[unit]")
{
    const trace::Totals totals =
        totals_of({malloc_at(16, 100),
                   {.kind = EventKind::realloc, .process = 1, .address = 32, .old_address = 16, .size = 150},
                   {.kind = EventKind::realloc, .process = 1, .address = 48, .size = 10},
                   {.kind = EventKind::realloc, .process = 1, .old_address = 48}});
    CHECK(totals.allocations == 3);
    CHECK(totals.frees == 2);
    CHECK(totals.reallocations == 3);
    CHECK(totals.peak_live_bytes == 160);
    CHECK(totals.end_live_bytes == 150);
    CHECK(totals.bytes_allocated == 260);
    CHECK(totals.max_size == 150);
}

TEST_CASE("unknown frees, duplicates, failures and null are told apart", "[unit]")
{
    const trace::Totals totals = totals_of({free_at(16),
                                            free_at(0),
                                            malloc_at(16, 5),
                                            malloc_at(16, 7),
                                            free_at(16),
                                            free_at(16),
                                            {.kind = EventKind::failed_alloc, .size = 1ULL << 60}});
    CHECK(totals.unknown_frees == 2);
    CHECK(totals.duplicate_allocations == 1);
    CHECK(totals.failures == 1);
    CHECK(totals.frees == 1);
    CHECK(totals.peak_live_bytes == 7);
    CHECK(totals.end_live_blocks == 0);
    CHECK(totals.bytes_allocated == 12);
}

TEST_CASE("blocks belong to their process and memory", "[unit]")
{
    Event device = malloc_at(16, 1000);
    device.space = 3;
    const trace::Totals totals = totals_of({malloc_at(16, 1, 1),
                                            malloc_at(16, 10, 2),
                                            malloc_at(32, 5, 2),
                                            device,
                                            free_at(16, 1),
                                            {.kind = EventKind::exec, .process = 2},
                                            malloc_at(16, 100, 2)});
    CHECK(totals.duplicate_allocations == 0);
    CHECK(totals.frees == 1);
    CHECK(totals.peak_live_bytes == 1100);
    CHECK(totals.end_live_bytes == 1115);  // what was given up with the old program was never freed
    CHECK(totals.end_live_blocks == 4);
    CHECK(totals.processes == 2);
}

TEST_CASE("mappings are no blocks", "[unit]")
{
    const trace::Totals totals = totals_of({{.kind = EventKind::map, .address = 0x10000, .size = 0x4000},
                                            {.kind = EventKind::unmap, .address = 0x10000, .size = 0x1000},
                                            {.kind = EventKind::map, .address = 0x90000, .size = 0x2000}});
    CHECK(totals.allocations == 0);
    CHECK(totals.peak_live_bytes == 0);
    CHECK(totals.peak_mapped_bytes == 0x5000);
}

TEST_CASE("a walk says what each event does to the live blocks", "[unit]")
{
    trace::BlockWalk walk;
    const auto first = walk.add(malloc_at(16, 100));
    REQUIRE(first.made);
    CHECK(first.made->tag == 0);

    // Another block is still live at the new address: its free was lost.
    REQUIRE(walk.add(malloc_at(32, 10)).made->tag == 1);
    const auto moved =
        walk.add({.kind = EventKind::realloc, .process = 1, .address = 32, .old_address = 16, .size = 50});
    REQUIRE(moved.freed);
    CHECK(moved.freed->size == 100);
    REQUIRE(moved.replaced);
    CHECK(moved.replaced->tag == 1);
    REQUIRE(moved.made);
    CHECK(moved.made->tag == moved.freed->tag);
    CHECK(walk.live_bytes() == 50);
    CHECK(walk.peak_live_bytes() == 110);

    CHECK(walk.add(free_at(48)).frees_unknown);
    CHECK_FALSE(walk.add(free_at(0)).frees_unknown);
    CHECK_FALSE(walk.add({.kind = EventKind::thread_start, .process = 1}).made);

    std::uint64_t ended = 0;
    walk.end_process(1, [&](const trace::LiveBlock& block) { ended += block.size; });
    CHECK(ended == 50);
    CHECK(walk.live_bytes() == 0);
    CHECK(walk.live().count() == 0);
}

TEST_CASE("the most that is live in each step is kept, however many events there are", "[unit]")
{
    constexpr std::uint64_t events = trace::LiveHistory::max_steps * 5 + 3;
    trace::LiveHistory history;
    std::uint64_t held = 0;
    for (std::uint64_t i = 1; i <= events; ++i) {
        held = i == 1000 ? 1'000'000 : i;  // one spike
        history.add(10 * i, {i % 2 == 0 ? 1U : 2U, held}, 2 * held);
    }
    const auto& steps = history.steps();
    REQUIRE(steps.size() > trace::LiveHistory::max_steps / 2);
    REQUIRE(steps.size() <= trace::LiveHistory::max_steps);
    CHECK(steps.front().first_event == 1);
    CHECK(steps[1].ticks == 10 * steps[1].first_event);
    const std::vector<std::uint64_t> total = history.total();
    const auto spike = std::max_element(total.begin(), total.end()) - total.begin();
    CHECK(total[static_cast<std::size_t>(spike)] == 2'000'000);
    CHECK(steps[static_cast<std::size_t>(spike)].first_event <= 1000);
    CHECK(history.of_process(1)[static_cast<std::size_t>(spike)] == 1'000'000);
    CHECK(history.of_process(2).back() == events);
    CHECK(history.of_process(3) == std::vector<std::uint64_t>(steps.size()));
}

TEST_CASE("a process that does nothing for a while goes on holding what it has", "[unit]")
{
    trace::LiveHistory history;
    history.add(0, {1, 100}, 100);
    for (std::uint64_t i = 0; i < trace::LiveHistory::max_steps; ++i) {
        history.add(i, {2, i}, 100 + i);
    }
    const std::vector<std::uint64_t> first = history.of_process(1);
    CHECK(std::ranges::all_of(first, [](std::uint64_t bytes) { return bytes == 100; }));
}
