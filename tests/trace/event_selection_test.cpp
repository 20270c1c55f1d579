// A trace without some of its call sites, and up to a moment, by events that are known.
#include "core/trace/event_selection.hpp"

#include <map>
#include <optional>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/replay/replay_program.hpp"
#include "core/trace/stack_writer.hpp"
#include "core/trace/symbols/site_names.hpp"
#include "core/trace/trace_moment.hpp"
#include "tests/trace/trace_bytes.hpp"

namespace memsweep::tests::selections {
using trace::Event;
using trace::EventKind;
namespace {

// Events of two sites, 1 and 2, as stacks of one frame each.
class TwoSites {
  public:
    TwoSites()
    {
        for (const std::uint64_t address : {0x10ULL, 0x20ULL}) {
            nodes_.push_back(writer_.stacks().node(0, address));
        }
    }
    [[nodiscard]] std::uint32_t node(std::size_t site) const { return nodes_[site - 1]; }
    void add(EventKind kind, std::uint64_t address, std::uint64_t size = 0, std::size_t site = 0,
             std::uint64_t old_address = 0)
    {
        writer_.add({.kind = kind,
                     .process = 7,
                     .thread = 7,
                     .address = address,
                     .old_address = old_address,
                     .size = size,
                     .stack = site == 0 ? 0 : node(site)});
    }
    trace::TraceReader& reader()
    {
        REQUIRE(writer_.finish({}));
        auto reader = trace::TraceReader::open(tests::read_from(file_), "memory");
        REQUIRE(reader);
        reader_.emplace(*std::move(reader));
        static_cast<void>(reader_->read_stacks());
        return *reader_;
    }

  private:
    std::string file_;
    trace::TraceWriter writer_{tests::append_to(file_), {}};
    std::vector<std::uint32_t> nodes_;
    std::optional<trace::TraceReader> reader_;
};

std::vector<Event> selected(trace::TraceReader& reader, const trace::EventSelection& selection)
{
    std::vector<Event> events;
    trace::SelectedEvents selected{reader, selection};
    Event event;
    while (selected.next(event)) {
        event.text = {};
        events.push_back(event);
    }
    std::size_t again = 0;
    selected.rewind();
    while (selected.next(event)) {
        ++again;
    }
    CHECK(again == events.size());
    return events;
}

std::vector<bool> only(std::uint32_t node)
{
    std::vector<bool> nodes(std::size_t{node} + 1);
    nodes[node] = true;
    return nodes;
}

}  // namespace

TEST_CASE("selection: a site that is left out takes its blocks' frees and reallocs with it", "[unit]")
{
    TwoSites made;
    made.add(EventKind::malloc, 0x1000, 10, 1);
    made.add(EventKind::malloc, 0x2000, 20, 2);
    made.add(EventKind::realloc, 0x3000, 30, 2, 0x1000);  // a block of site 1, at site 2
    made.add(EventKind::realloc, 0x4000, 40, 1, 0x2000);  // a block of site 2, at site 1
    made.add(EventKind::free, 0x3000);
    made.add(EventKind::free, 0x4000);
    trace::TraceReader& reader = made.reader();
    const std::vector<Event> rest = selected(reader, {.left_out = only(made.node(1))});
    REQUIRE(rest.size() == 3);
    CHECK(rest[0].address == 0x2000);
    CHECK(rest[1].kind == EventKind::realloc);
    CHECK(rest[1].old_address == 0x2000);
    CHECK(rest[1].address == 0x4000);
    CHECK(rest[1].size == 20);  // the call at site 1 never made it larger
    CHECK(rest[2].address == 0x4000);
}

TEST_CASE("selection: an address that is used again belongs to who took it last", "[unit]")
{
    TwoSites made;
    made.add(EventKind::malloc, 0x1000, 10, 1);
    made.add(EventKind::free, 0x1000);
    made.add(EventKind::malloc, 0x1000, 20, 2);
    made.add(EventKind::malloc, 0x1000, 30, 1);  // the free of site 2's was not recorded
    made.add(EventKind::free, 0x1000);
    made.add(EventKind::malloc, 0x1000, 40, 2);
    made.add(EventKind::free, 0x1000);
    trace::TraceReader& reader = made.reader();
    const std::vector<Event> rest = selected(reader, {.left_out = only(made.node(1))});
    REQUIRE(rest.size() == 4);
    CHECK(rest[0].size == 20);
    CHECK(rest[1].kind == EventKind::free);
    CHECK(rest[2].size == 40);
    CHECK(rest[3].kind == EventKind::free);
}

TEST_CASE("selection: what is left out and what is left add up to the whole", "[unit]")
{
    base::Rng random{11};
    TwoSites made;
    std::map<std::uint64_t, std::uint64_t> live;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t address = 0x1000 + random.below(400) * 64;
        if (live.erase(address) != 0) {
            made.add(EventKind::free, address);
        } else {
            live[address] = 1 + random.below(64);
            made.add(EventKind::malloc, address, live[address], 1 + random.below(2));
        }
    }
    trace::TraceReader& reader = made.reader();
    const auto totals = [&](const std::vector<bool>& left_out) {
        reader.rewind();
        trace::ReplayCompileOptions options;
        options.selection.left_out = left_out;
        const auto words = trace::compile_replay(reader, options);
        REQUIRE(words);
        return trace::view(*words)->header->totals;
    };
    const trace::ReplayTotals whole = totals({});
    const trace::ReplayTotals first = totals(only(made.node(1)));
    const trace::ReplayTotals second = totals(only(made.node(2)));
    CHECK(whole.left_out + first.left_out + second.left_out == 0);
    CHECK(first.events + second.events == whole.events);
    CHECK(first.end_live_bytes + second.end_live_bytes == whole.end_live_bytes);
    CHECK(first.bytes_allocated + second.bytes_allocated == whole.bytes_allocated);
    CHECK(first.allocations != 0);
    CHECK(second.allocations != 0);
}

TEST_CASE("selection: a number of events, a process", "[unit]")
{
    TwoSites made;
    made.add(EventKind::malloc, 0x1000, 10, 1);
    made.add(EventKind::malloc, 0x2000, 20, 2);
    made.add(EventKind::free, 0x1000);
    trace::TraceReader& reader = made.reader();
    CHECK(selected(reader, {.left_out = {}, .process = {}, .most_events = 2}).size() == 2);
    reader.rewind();
    CHECK(selected(reader, {.left_out = {}, .process = 7}).size() == 3);
    reader.rewind();
    CHECK(selected(reader, {.left_out = {}, .process = 8}).empty());
}

TEST_CASE("selection: a thread that has not ended by the cut is there", "[unit]")
{
    std::string file;
    trace::TraceWriter writer{tests::append_to(file), {}};
    const auto add = [&](EventKind kind, std::uint32_t thread, std::uint64_t address) {
        writer.add({.kind = kind, .process = 7, .thread = thread, .address = address, .size = 8});
    };
    add(EventKind::malloc, 7, 0x1000);
    add(EventKind::malloc, 8, 0x2000);
    add(EventKind::malloc, 7, 0x3000);
    REQUIRE(writer.finish({}));
    for (const bool is_cut : {false, true}) {
        auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
        REQUIRE(reader);
        trace::ReplayCompileOptions options;
        options.selection.is_cut = is_cut;
        const auto words = trace::compile_replay(*reader, options);
        REQUIRE(words);
        CHECK(trace::view(*words)->threads[1].ends == (is_cut ? 0U : 1U));
    }
}

TEST_CASE("moments: the peak, a number of events, a time", "[unit]")
{
    std::string file;
    trace::TraceWriter writer{tests::append_to(file), {.ticks_per_second = 1000, .start_ticks = 5000}};
    const auto add = [&](EventKind kind, std::uint64_t address, std::uint64_t size, std::uint64_t ticks) {
        Event event{.kind = kind, .process = 7, .thread = 7, .address = address, .size = size};
        event.ticks = ticks;
        writer.add(event);
    };
    add(EventKind::malloc, 0x1000, 10, 5000);
    add(EventKind::malloc, 0x2000, 20, 6000);
    add(EventKind::free, 0x1000, 0, 7000);
    add(EventKind::malloc, 0x1000, 10, 8000);  // as high as before, not higher
    REQUIRE(writer.finish({}));
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const auto events = [&](std::string_view text) {
        const auto moment = trace::parse_moment(text);
        REQUIRE(moment);
        return trace::events_before(*reader, *moment).value();
    };
    CHECK(events("peak") == 2);
    CHECK(events("3") == 3);
    CHECK(events("2500ms") == 3);
    CHECK(events("end") == UINT64_MAX);
    CHECK(events("exit") == UINT64_MAX);
    CHECK(events("") == UINT64_MAX);
    for (const char* const wrong : {"0", "peek", "-1s", "1", "12"}) {
        const bool is_number = std::string_view{wrong} == "1" || std::string_view{wrong} == "12";
        CHECK(trace::parse_moment(wrong).has_value() == is_number);
    }
}

TEST_CASE("moments: of one process of several, and when they were", "[unit]")
{
    std::string file;
    trace::TraceWriter writer{tests::append_to(file), {.ticks_per_second = 1000, .start_ticks = 5000}};
    const auto add = [&](std::uint32_t process, EventKind kind, std::uint64_t address, std::uint64_t size,
                         std::uint64_t ticks) {
        Event event{.kind = kind, .process = process, .thread = process, .address = address, .size = size};
        event.ticks = ticks;
        writer.add(event);
    };
    add(7, EventKind::malloc, 0x1000, 10, 5000);
    add(8, EventKind::malloc, 0x1000, 500, 6000);
    add(7, EventKind::malloc, 0x2000, 20, 7000);
    add(7, EventKind::free, 0x2000, 0, 8000);
    add(8, EventKind::malloc, 0x2000, 500, 9000);
    REQUIRE(writer.finish({}));
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    struct Asked {
        const char* moment;
        std::optional<std::uint32_t> process;
        std::uint64_t events, ticks;
    };
    for (const Asked& one : {Asked{"peak", {}, 5, 9000}, Asked{"peak", 7, 3, 7000}, Asked{"peak", 8, 5, 9000},
                             Asked{"end", {}, UINT64_MAX, 9000}, Asked{"end", 7, UINT64_MAX, 8000},
                             Asked{"4", 8, 4, 6000}, Asked{"1", 8, 1, 5000}, Asked{"2500ms", 7, 3, 7500}}) {
        INFO(one.moment << " of " << one.process.value_or(0));
        const auto moment = trace::parse_moment(one.moment);
        REQUIRE(moment);
        const std::uint64_t events = trace::events_before(*reader, *moment, one.process).value();
        CHECK(events == one.events);
        CHECK(trace::ticks_of(*reader, *moment, events, one.process) == one.ticks);
    }
}

TEST_CASE("names of sites: as reports have them, by parts of them, and near ones", "[unit]")
{
    const trace::ResolvedFrame place{.function = "void table::parse_row(char const*)",
                                     .file = "/src/table.cpp",
                                     .line = 210,
                                     .module = "/bin/app",
                                     .is_named = true};
    for (const char* const name : {"table::parse_row", "table::parse_row (table.cpp:210)", "table.cpp:210", "table.cpp",
                                   "/src/table.cpp", "/src/table.cpp:210", "*parse_row*", "table.cpp:2?0", "*",
                                   "table::*", "void table::parse_row(char const*)"}) {
        INFO(name);
        CHECK(trace::is_called(place, name));
    }
    for (const char* const name : {"parse_row", "table.cpp:21", "table.cpp:211", "table", "?", "", "*parse_rows*"}) {
        INFO(name);
        CHECK_FALSE(trace::is_called(place, name));
    }
    const trace::ResolvedFrame hidden{.function = "(anonymous namespace)::load(int)", .is_named = true};
    CHECK(trace::is_called(hidden, "load"));
    CHECK(trace::is_called(hidden, "(anonymous namespace)::load"));
    const trace::StackSites sites{.of = {0, 1, 1}, .places = {{}, place}};
    const auto found = trace::nodes_of_sites(sites, {false, true, false}, {"table.cpp:210"});
    REQUIRE(found);
    CHECK(*found == std::vector<bool>{false, true, true});
    const auto missing = trace::nodes_of_sites(sites, {false, true, true}, {"table::parse_rwo"});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("did you mean \"table::parse_row\"") != std::string::npos);
    const auto part = trace::nodes_of_sites(sites, {false, true, true}, {"parse_"});
    REQUIRE_FALSE(part);
    CHECK(part.error().message.find("near: \"") != std::string::npos);
    CHECK_FALSE(trace::nodes_of_sites(sites, {false, false, false}, {"table.cpp:210"}));  // it only calls
}

}  // namespace memsweep::tests::selections
