// What a trace says of a heap at its end, by events that are known.
#include "core/trace/heap_history.hpp"

#include <array>
#include <vector>

#include "tests/trace/trace_bytes.hpp"

namespace memsweep::tests::heaps {
using trace::Event;
using trace::EventKind;
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint32_t process = 7;

Event event(EventKind kind, std::uint64_t address, std::uint64_t size = 0)
{
    Event one{.kind = kind, .process = process, .thread = process};
    one.address = address;
    one.size = size;
    return one;
}

trace::HeapHistory history_of(const std::vector<Event>& events)
{
    const std::string file = tests::trace_of(events);
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const trace::ProgramNotes& notes = reader->read_notes();
    const std::array<std::uint32_t, 1> sites{0};
    return trace::HeapHistory::read(*reader, notes,
                                    {.process = process, .page_bytes = page, .site_of_stack = sites, .sites = 1});
}

}  // namespace

TEST_CASE("heap history: live blocks, the pages of freed ones, and lives", "[unit]")
{
    Event moved = event(EventKind::realloc, 40 * page, 100);
    moved.old_address = 20 * page;
    Event other = event(EventKind::malloc, 10 * page, 8);
    other.process = 8;
    const auto history =
        history_of({event(EventKind::malloc, 10 * page + 16, 2 * page), event(EventKind::malloc, 20 * page, 32), other,
                    event(EventKind::free, 10 * page + 16), moved, event(EventKind::malloc, 30 * page, 5)});
    REQUIRE(history.live().size() == 2);
    CHECK(history.live()[0].address == 30 * page);
    CHECK(history.live()[0].size == 5);
    CHECK(history.live()[1].address == 40 * page);
    CHECK(history.live()[1].born < history.live()[0].born);
    REQUIRE(history.covered().size() == 2);
    CHECK(history.covered()[0].begin == 10 * page);
    CHECK(history.covered()[0].end == 13 * page);
    CHECK(history.covered()[1].begin == 20 * page);
    CHECK(history.events() == 5);
    CHECK(history.lifetimes().count() == 2);
    CHECK(history.freed()[0].bytes == 2 * page + 32);
    CHECK(history.freed()[0].small_bytes == 32);
}

TEST_CASE("heap history: what is mapped anew was never a block's, and what is unmapped is nobody's", "[unit]")
{
    const auto history =
        history_of({event(EventKind::malloc, 10 * page, 8 * page), event(EventKind::free, 10 * page),
                    event(EventKind::map, 12 * page, 2 * page), event(EventKind::map, 100 * page, 4 * page),
                    event(EventKind::unmap, 101 * page, 1 * page)});
    REQUIRE(history.covered().size() == 2);
    CHECK(history.covered()[0].end == 12 * page);
    CHECK(history.covered()[1].begin == 14 * page);
    REQUIRE(history.mapped().size() == 3);
    CHECK(history.mapped()[1].end == 101 * page);
    CHECK(history.mapped()[2].begin == 102 * page);
}

TEST_CASE("heap history: a process that becomes another program has nothing of the first", "[unit]")
{
    const auto history = history_of({event(EventKind::malloc, 10 * page, 8), event(EventKind::malloc, 50 * page, 8),
                                     event(EventKind::free, 50 * page), event(EventKind::map, 70 * page, page),
                                     event(EventKind::exec, 0), event(EventKind::malloc, 20 * page, 8)});
    REQUIRE(history.live().size() == 1);
    CHECK(history.live()[0].address == 20 * page);
    CHECK(history.covered().empty());
    CHECK(history.mapped().empty());
}

}  // namespace memsweep::tests::heaps
