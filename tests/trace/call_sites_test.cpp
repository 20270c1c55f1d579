#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/stack_writer.hpp"
#include "core/trace/stacks.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/symbols/call_tree.hpp"
#include "core/trace/symbols/function_names.hpp"
#include "tests/trace/trace_bytes.hpp"

using namespace memsweep;
using trace::AllocationFigures;
using trace::Event;
using trace::EventKind;
using trace::FunctionRole;
using trace::SiteKind;
using trace::SiteOrder;

namespace {

// A tree of stacks whose addresses have names, and the events of a trace.
class StackedTrace {
  public:
    // Of functions in files of Python an interpreter runs the lines.
    std::uint32_t stack(std::initializer_list<trace::SourceFrame> outermost_first)
    {
        std::uint32_t node = 0;
        for (const trace::SourceFrame& frame : outermost_first) {
            const std::uint64_t base = frame.file.ends_with(".py") ? trace::first_interpreted : 16;
            const auto [address, is_new] =
                addresses_.try_emplace(std::string{frame.function}, base + addresses_.size());
            if (is_new) {
                writer_.stacks().name(address->second, "/bin/app", {&frame, 1});
            }
            node = writer_.stacks().node(node, address->second);
        }
        return node;
    }
    void add(const Event& event) { writer_.add(event); }
    void allocate(std::uint64_t address, std::uint64_t size, std::uint32_t stack, std::uint32_t thread = 0)
    {
        add({.kind = EventKind::malloc, .thread = thread, .address = address, .size = size, .stack = stack});
    }
    void free(std::uint64_t address, std::uint32_t thread = 0)
    {
        add({.kind = EventKind::free, .thread = thread, .address = address});
    }
    const std::string& finish(const trace::Facts& facts = {})
    {
        REQUIRE(writer_.finish(facts));
        return file_;
    }

  private:
    std::string file_;
    trace::TraceWriter writer_{tests::append_to(file_), {}};
    std::map<std::string, std::uint64_t> addresses_;
};

trace::CountedAllocations counted(const std::string& file, trace::CountedBy by)
{
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    reader->read_stacks();
    return trace::count_allocations(*reader, by);
}

std::vector<std::pair<std::string, AllocationFigures>> sites_of(const std::string& file, SiteKind by,
                                                                SiteOrder order = SiteOrder::peak)
{
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const auto sites = trace::CallSites::of(*reader, {by, order}, "memory");
    REQUIRE(sites);
    std::vector<std::pair<std::string, AllocationFigures>> list;
    for (const trace::CallSite& site : sites->sites()) {
        list.emplace_back(site.place.function, site.figures);
    }
    return list;
}

// As summarize() has them.
void check_totals(const AllocationFigures& total, const trace::Totals& totals)
{
    CHECK(total.allocations == totals.allocations);
    CHECK(total.bytes_allocated == totals.bytes_allocated);
    CHECK(total.peak_bytes == totals.peak_live_bytes);
    CHECK(total.own_peak_bytes == totals.peak_live_bytes);
    CHECK(total.end_bytes == totals.end_live_bytes);
    CHECK(total.end_blocks == totals.end_live_blocks);
}

}  // namespace

TEST_CASE("figures of a stack are what was live at the trace's peak, at the end and at most", "[unit]")
{
    StackedTrace made;
    const std::uint32_t one = made.stack({{"main"}, {"one"}});
    const std::uint32_t two = made.stack({{"main"}, {"two"}});
    made.allocate(100, 1000, one);
    made.free(100);  // temporary, and not of the peak
    made.allocate(200, 600, one);
    made.allocate(300, 500, two);  // the peak: 1100
    made.free(200);
    made.allocate(400, 50, one);
    made.free(300);  // not the next event after its allocation
    made.allocate(500, 0, two);
    const trace::CountedAllocations all = counted(made.finish(), trace::CountedBy::stack);
    CHECK(all.of[one] == AllocationFigures{3, 1650, 1, 600, 1, 50, 1, 1000});
    CHECK(all.of[two] == AllocationFigures{2, 500, 0, 500, 1, 0, 1, 500});
    CHECK(all.total == AllocationFigures{5, 2150, 1, 1100, 2, 50, 2, 1100});
}

TEST_CASE("an allocation is temporary where its own thread frees it next", "[unit]")
{
    StackedTrace made;
    const std::uint32_t stack = made.stack({{"main"}});
    made.allocate(100, 8, stack, 1);
    made.allocate(200, 8, stack, 2);  // another thread's event comes between
    made.free(100, 1);
    made.free(200, 1);  // by another thread
    made.allocate(300, 8, stack, 1);
    made.allocate(400, 8, stack, 1);
    made.free(300, 1);
    made.free(400, 1);
    made.allocate(500, 8, stack, 1);
    made.add({.kind = EventKind::realloc, .thread = 1, .address = 600, .old_address = 500, .size = 16, .stack = stack});
    CHECK(counted(made.finish(), trace::CountedBy::stack).of[stack].temporary == 2);
}

TEST_CASE("sums over stacks, threads and sizes are the totals of the trace", "[unit]")
{
    base::Rng random{11};
    StackedTrace made;
    std::vector<std::uint32_t> stacks{0};
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        stacks.push_back(made.stack({{"main"}, {name}}));
        stacks.push_back(made.stack({{"main"}, {name}, {"malloc"}}));
    }
    for (int i = 0; i < 40'000; ++i) {
        const std::uint64_t address = 16 + 16 * random.below(700);
        const std::uint64_t size = random.below(30) * (i > 20'000 ? 1 : 3);
        const auto thread = static_cast<std::uint32_t>(random.below(3));
        const std::uint32_t stack = stacks[random.below(stacks.size())];
        const std::uint64_t kind = random.below(100);
        if (kind < 45) {
            made.allocate(address, size, stack, thread);  // some at a live block's place
        } else if (kind < 90) {
            made.free(address, thread);
        } else if (kind < 99) {
            made.add({.kind = EventKind::realloc,
                      .thread = thread,
                      .address = kind == 98 ? 0 : address + 160,
                      .old_address = address,
                      .size = kind == 98 ? 0 : size,
                      .stack = kind == 98 ? 0 : stack});
        } else if (random.below(50) == 0) {
            made.add({.kind = EventKind::exec});
        }
    }
    const std::string& file = made.finish();
    const trace::Totals totals = tests::summary_of(file).totals;
    REQUIRE(totals.peak_live_bytes != 0);
    for (const trace::CountedBy by : {trace::CountedBy::stack, trace::CountedBy::thread, trace::CountedBy::size}) {
        const trace::CountedAllocations all = counted(file, by);
        check_totals(all.total, totals);
        AllocationFigures sum;
        for (const AllocationFigures& figures : all.of) {
            trace::add(sum, figures);
            CHECK(figures.own_peak_bytes >=
                  std::max(figures.peak_bytes, figures.own_peak_bytes == 0 ? 0 : std::uint64_t{1}));
        }
        sum.own_peak_bytes = all.total.own_peak_bytes;
        CHECK(sum == all.total);
    }
    for (const SiteKind by : {SiteKind::site, SiteKind::function, SiteKind::file, SiteKind::thread, SiteKind::size}) {
        AllocationFigures sum;
        for (const auto& [name, figures] : sites_of(file, by)) {
            trace::add(sum, figures);
        }
        sum.own_peak_bytes = totals.peak_live_bytes;
        check_totals(sum, totals);
    }
}

TEST_CASE("a site is the innermost place that is the program's own", "[unit]")
{
    StackedTrace made;
    made.allocate(100, 1,
                  made.stack({{"main", "m.cpp", 1}, {"parse_row", "t.cpp", 210}, {"operator new(unsigned long)"}}));
    made.allocate(200, 2,
                  made.stack({{"main", "m.cpp", 1},
                              {"load()", "t.cpp", 9},
                              {"void std::vector<int>::push_back(int const&)", "stl_vector.h", 1},
                              {"std::allocator<int>::allocate(unsigned long)"},
                              {"operator new(unsigned long)"}}));
    made.allocate(300, 4, made.stack({{"std::thread::_State::run()"}, {"malloc"}}));
    made.allocate(400, 8, made.stack({{"malloc"}}));
    made.allocate(500, 16, 0);
    const auto sites = sites_of(made.finish(), SiteKind::site);
    std::vector<std::string> names;
    for (const auto& [name, figures] : sites) {
        names.push_back(name);
    }
    CHECK(names == std::vector<std::string>{"", "malloc", "std::thread::_State::run()", "load()", "parse_row"});
}

TEST_CASE("sites, functions and files group stacks, and the heaviest stack stands for a site", "[unit]")
{
    StackedTrace made;
    const std::uint32_t far = made.stack({{"main", "m.cpp", 1}, {"far", "m.cpp", 2}, {"get", "t.cpp", 7}});
    const std::uint32_t near = made.stack({{"main", "m.cpp", 1}, {"get", "t.cpp", 7}});
    made.allocate(100, 10, near);
    made.allocate(200, 30, far);
    made.allocate(300, 1, made.stack({{"main", "m.cpp", 1}, {"other", "t.cpp", 70}}));
    const std::string& file = made.finish();
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const auto sites = trace::CallSites::of(*reader, {}, "memory");
    REQUIRE(sites);
    REQUIRE(sites->sites().size() == 2);
    CHECK(sites->sites()[0].figures.bytes_allocated == 40);
    const auto stack = sites->stack_of(sites->sites()[0]);
    REQUIRE(stack.size() == 3);
    CHECK(stack[0].function == "get");
    CHECK(stack[1].function == "far");
    CHECK(stack[2].function == "main");
    CHECK(stack[2].module == "/bin/app");
    CHECK(sites_of(file, SiteKind::file).size() == 1);
}

TEST_CASE("a trace without stacks tells threads and sizes, and says how sites are had", "[unit]")
{
    StackedTrace made;
    made.allocate(100, 10, 0);
    auto reader = trace::TraceReader::open(tests::read_from(made.finish()), "app.mst");
    REQUIRE(reader);
    const auto sites = trace::CallSites::of(*reader, {}, "app.mst");
    REQUIRE_FALSE(sites);
    CHECK(sites.error().where == "app.mst");
    CHECK(sites.error().message.find("record --stacks") != std::string::npos);
    CHECK(trace::CallSites::of(*reader, {.by = SiteKind::thread}, "app.mst").has_value());
}

TEST_CASE("a sample's blocks stand for all that were asked for, within what chance allows", "[unit]")
{
    constexpr std::uint64_t mean = 4096;
    constexpr std::uint64_t blocks = 200'000;
    base::Rng random{3};
    StackedTrace made;
    const std::uint32_t stack = made.stack({{"main"}});
    double gap = 0;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
        const std::uint64_t size = 16 + 16 * random.below(200);
        bytes += size;
        // Poisson: whether one of the points lies in the block.
        const double miss = std::exp(-static_cast<double>(size) / mean);
        gap = static_cast<double>(random.below(1 << 30)) / static_cast<double>(1 << 30);
        made.allocate(16 * i + 16, size, gap > miss ? stack : 0);
    }
    const trace::CountedAllocations all =
        counted(made.finish({{trace::stacks_fact, std::to_string(mean)}}), trace::CountedBy::stack);
    CHECK_FALSE(all.is_exact());
    const double sigma = std::sqrt(static_cast<double>(mean) * static_cast<double>(bytes));
    CHECK(std::abs(static_cast<double>(all.total.bytes_allocated) - static_cast<double>(bytes)) < 4 * sigma);
    CHECK(all.of[0].allocations == 0);
    CHECK(std::abs(static_cast<double>(all.total.allocations) - blocks) < blocks * 0.05);
}

TEST_CASE("names of functions lose what they return and take", "[unit]")
{
    CHECK(trace::bare_name("main") == "main");
    CHECK(trace::bare_name("void std::vector<int, std::allocator<int> >::push_back(int const&)") ==
          "std::vector<int, std::allocator<int> >::push_back");
    CHECK(trace::bare_name("(anonymous namespace)::parse(char const*)") == "(anonymous namespace)::parse");
    CHECK(trace::bare_name("operator new(unsigned long)") == "operator new");
    CHECK(trace::bare_name("bool A::operator()(int) const") == "A::operator()");
    CHECK(trace::bare_name("A::operator<(A const&)") == "A::operator<");
    CHECK(trace::bare_name("") == "");
    CHECK(trace::role_of("operator new[](unsigned long)") == FunctionRole::allocator);
    CHECK(trace::role_of("malloc") == FunctionRole::allocator);
    CHECK(trace::role_of("malloc_rows(int)") == FunctionRole::program);
    CHECK(trace::role_of("std::string::append(char const*)") == FunctionRole::library);
    CHECK(trace::role_of("[callers not known]") == FunctionRole::library);
    CHECK(trace::role_of("my::std::thing()") == FunctionRole::program);
    CHECK(trace::demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE") == "core::fmt::Formatter::pad");
    CHECK(trace::demangled("_ZN4main17h0123456789abcdefE") == "main");
    CHECK(trace::demangled("_Z3fooi") == "foo(int)");
    CHECK(trace::demangled("_Znot a name") == "_Znot a name");
}

TEST_CASE("stacks that read alike are one in the tree of functions", "[unit]")
{
    StackedTrace made;
    const std::uint32_t deep = made.stack({{"main"}, {"a"}, {"b"}});
    const std::uint32_t flat = made.stack({{"main"}, {"a"}});
    made.allocate(100, 5, deep);
    made.allocate(200, 7, flat);
    made.allocate(300, 1, 0);
    const std::string& file = made.finish();
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const trace::StackTable& table = reader->read_stacks();
    trace::Symbolizer symbolizer{table};
    const trace::CountedAllocations all = trace::count_allocations(*reader, trace::CountedBy::stack);
    const trace::CallTree tree{table, symbolizer, all.of};
    REQUIRE(tree.nodes().size() == 4);
    const auto sums = tree.with_callees();
    CHECK(sums[0].bytes_allocated == 13);
    CHECK(tree.nodes()[0].own.bytes_allocated == 1);
    CHECK(tree.nodes()[1].frame.function == "main");
    CHECK(sums[1].bytes_allocated == 12);
    CHECK(sums[2].bytes_allocated == 12);
    CHECK(tree.nodes()[2].own.bytes_allocated == 7);
    CHECK(sums[3].bytes_allocated == 5);
}

TEST_CASE("a chain of callers as deep as a file can make it costs no more than its length", "[unit]")
{
    std::string file;
    trace::TraceWriter writer{tests::append_to(file), {}};
    std::uint32_t node = 0;
    for (std::uint64_t i = 1; i <= 200'000; ++i) {
        node = writer.stacks().node(node, 16 * i);
        writer.add({.kind = EventKind::malloc, .address = 16 * i, .size = 1, .stack = node});
    }
    REQUIRE(writer.finish({}));
    auto reader = trace::TraceReader::open(tests::read_from(file), "memory");
    REQUIRE(reader);
    const auto sites = trace::CallSites::of(*reader, {}, "memory");
    REQUIRE(sites);
    CHECK(sites->sites().size() == 200'000);
    CHECK(sites->stack_of({.stack = node}).size() == trace::most_frames_shown);
}

TEST_CASE("what an interpreter's own functions ask for is its line's", "[unit]")
{
    StackedTrace file;
    const trace::SourceFrame module{"<module>", "/app/a.py", 9};
    const trace::SourceFrame line{"std::odd", "/app/a.py", 4};  // whatever it is called
    file.allocate(16, 100,
                  file.stack({{"main", "python.c", 1},
                              module,
                              {"list_sort", "listobject.c", 2},
                              line,
                              {"bytearray_resize", "bytearrayobject.c", 3},
                              {"malloc", "", 0}}));
    file.allocate(160, 10, file.stack({{"main", "python.c", 1}, module, {"std::sort", "", 0}, {"malloc", "", 0}}));
    file.allocate(320, 1, file.stack({{"main", "python.c", 1}, {"malloc", "", 0}}));
    const auto sites = sites_of(file.finish(), SiteKind::site);
    REQUIRE(sites.size() >= 3);
    CHECK(sites[0].first == "std::odd");
    CHECK(sites[1].first == "<module>");
    CHECK(sites[2].first == "main");
}
