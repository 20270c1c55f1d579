#include "core/measure/site_changes.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/measure/comparison.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

// A program of functions in one file, each of which asks on one line, which main calls.
class InventedPrograms {
  public:
    std::uint32_t frame(const std::string& function, std::uint32_t line, const std::string& file = "app.c")
    {
        return frames.number_of({.function = function,
                                 .file = file,
                                 .line = line,
                                 .place = fmt::format("{} ({}:{})", function, file, line),
                                 .module = "app",
                                 .code = "build",
                                 .role = FrameRole::program,
                                 .is_named = true});
    }
    std::uint32_t nameless(const std::string& place, const std::string& code)
    {
        return frames.number_of({.function = place,
                                 .file = "",
                                 .place = place,
                                 .module = "app-" + code,
                                 .code = code,
                                 .role = FrameRole::program,
                                 .is_named = false});
    }
    std::uint32_t allocator(const std::string& function, FrameRole role = FrameRole::allocator)
    {
        return frames.number_of({.function = function,
                                 .file = "",
                                 .place = function,
                                 .module = "libc.so.6",
                                 .code = "libc",
                                 .role = role,
                                 .is_named = true});
    }

    SiteFrames frames;
};

RecordedStack stack(std::vector<std::uint32_t> frames, std::uint64_t allocations, std::uint64_t size = 10,
                    std::uint64_t live = 0)
{
    return {std::move(frames),
            {.allocations = allocations,
             .allocated_bytes = allocations * size,
             .peak_bytes = live,
             .peak_blocks = live / size,
             .end_bytes = live,
             .end_blocks = live / size}};
}

const model::MetricSites* metric_of(const ComparedSites& compared, std::string_view name)
{
    for (const model::MetricSites& metric : compared.changes.metrics) {
        if (metric.metric == name) {
            return &metric;
        }
    }
    return nullptr;
}

// 200 sites; `more` of one, all lines moved by `shift`.
RecordedRun two_hundred(InventedPrograms& programs, std::uint32_t shift, std::uint32_t site, std::uint64_t more)
{
    RecordedRun run;
    const std::uint32_t allocate = programs.allocator("malloc");
    for (std::uint32_t i = 0; i < 200; ++i) {
        run.push_back(stack({allocate, programs.frame(fmt::format("site_{}", i), 10 * i + shift),
                             programs.frame("main", 5000 + i + shift)},
                            100 + 3 * i + (i == site ? more : 0)));
    }
    return run;
}

}  // namespace

TEST_CASE("sites: one of two hundred is named first, wherever its lines are", "[unit][campaign]")
{
    for (std::uint32_t site = 0; site < 200; ++site) {
        InventedPrograms programs;
        const std::vector<RecordedRun> base(2, two_hundred(programs, 0, site, 0));
        const std::vector<RecordedRun> candidate(2, two_hundred(programs, 7, site, 1));
        const ComparedSites compared = compare_sites(programs.frames, base, candidate);
        CHECK(compared.is_settled);
        CHECK(compared.changes.reason.empty());
        const model::MetricSites* const allocations = metric_of(compared, "allocations");
        REQUIRE(allocations != nullptr);
        REQUIRE(allocations->sites.size() == 1);
        CHECK(allocations->sites[0].site == fmt::format("site_{0} (app.c:{1})", site, 10 * site + 7));
        CHECK(allocations->sites[0].in == model::SiteIn::both);
        CHECK(allocations->sites[0].share == 1.0);
        CHECK(allocations->sites[0].change == 1);
        CHECK(allocations->sites[0].callers == std::vector{fmt::format("main (app.c:{})", 5000 + site + 7)});
        CHECK(metric_of(compared, "live_bytes_peak") == nullptr);
    }
}

TEST_CASE("sites: lines and files that moved are no difference", "[unit]")
{
    InventedPrograms programs;
    const std::vector<RecordedRun> base(2, two_hundred(programs, 0, 0, 0));
    const std::vector<RecordedRun> candidate(2, two_hundred(programs, 31, 0, 0));
    CHECK(compare_sites(programs.frames, base, candidate).changes.metrics.empty());

    std::vector<RecordedRun> renamed(2);
    for (RecordedRun& run : renamed) {
        run = {stack({programs.frame("parse", 3, "old.c")}, 5)};
    }
    const std::vector<RecordedRun> after(2, {stack({programs.frame("parse", 9, "new.c")}, 5)});
    CHECK(compare_sites(programs.frames, renamed, after).changes.metrics.empty());
}

TEST_CASE("sites: the compiler's copies and recursions are one function", "[unit]")
{
    InventedPrograms programs;
    const std::uint32_t walk = programs.frame("walk", 4);
    const std::vector<RecordedRun> base(2, {stack({walk, programs.frame("main", 9)}, 8)});
    const std::vector<RecordedRun> candidate(
        2, {stack({programs.frame("walk.part.0", 5), walk, walk, programs.frame("main", 9)}, 4),
            stack({programs.frame("walk.constprop.0", 5), programs.frame("main", 9)}, 4)});
    CHECK(compare_sites(programs.frames, base, candidate).changes.metrics.empty());
}

TEST_CASE("sites: a site that is new, and one that is gone", "[unit]")
{
    InventedPrograms programs;
    const RecordedStack kept = stack({programs.frame("kept", 1), programs.frame("main", 90)}, 100);
    const std::vector<RecordedRun> base(2, {kept, stack({programs.frame("old", 5), programs.frame("main", 91)}, 30)});
    const std::vector<RecordedRun> candidate(
        2, {kept, stack({programs.frame("fresh", 6), programs.frame("main", 91)}, 50, 10, 500)});
    const ComparedSites compared = compare_sites(programs.frames, base, candidate);
    const model::MetricSites* const allocations = metric_of(compared, "allocations");
    REQUIRE(allocations != nullptr);
    REQUIRE(allocations->sites.size() == 2);
    CHECK(allocations->sites[0].site == "fresh (app.c:6)");
    CHECK(allocations->sites[0].in == model::SiteIn::candidate);
    CHECK(allocations->sites[1].site == "old (app.c:5)");
    CHECK(allocations->sites[1].in == model::SiteIn::base);
    CHECK(allocations->sites[1].share == -1.5);
    const model::MetricSites* const peak = metric_of(compared, "live_bytes_peak");
    REQUIRE(peak != nullptr);
    CHECK(peak->sites[0].blocks == 50.0);
}

TEST_CASE("sites: who asks through a wrapper is named, and the wrapper only where all of it grows", "[unit]")
{
    for (const std::string name : {"xmalloc", "take"}) {
        InventedPrograms programs;
        const auto run_of = [&](std::uint32_t differing, std::uint64_t more) {
            RecordedRun run;
            for (std::uint32_t i = 0; i < 12; ++i) {
                const bool differs = differing == 99 || i == differing;
                run.push_back(
                    stack({programs.allocator("malloc"), programs.frame(name, 2), programs.frame("main", 100 + i)},
                          40 + i + (differs ? more : 0)));
            }
            return run;
        };
        const std::vector<RecordedRun> base(2, run_of(0, 0));
        const ComparedSites one = compare_sites(programs.frames, base, std::vector<RecordedRun>(2, run_of(7, 3)));
        REQUIRE(one.changes.metrics.size() == 2);
        CHECK(one.changes.metrics[0].sites[0].site == "main (app.c:107)");
        CHECK(one.changes.metrics[0].sites[0].through == std::vector{name + " (app.c:2)"});
        CHECK(one.changes.metrics[0].sites.size() == 1);
        const ComparedSites all = compare_sites(programs.frames, base, std::vector<RecordedRun>(2, run_of(99, 3)));
        CHECK(all.changes.metrics[0].sites[0].site == name + " (app.c:2)");
        CHECK(all.changes.metrics[0].sites[0].share == 1.0);
    }
}

TEST_CASE("sites: a wrapper that is also the outermost function known keeps what is its own", "[unit]")
{
    InventedPrograms programs;
    const std::uint32_t wrapper = programs.frame("xcalloc", 2);
    const auto run_of = [&](std::uint64_t more) {
        return RecordedRun{stack({wrapper}, 100), stack({wrapper, programs.frame("load", 9)}, 50 + more),
                           stack({wrapper, programs.frame("save", 19)}, 70)};
    };
    const std::vector<RecordedRun> base(2, run_of(0));
    const ComparedSites compared = compare_sites(programs.frames, base, std::vector<RecordedRun>(2, run_of(4)));
    REQUIRE(compared.changes.metrics[0].sites.size() == 1);
    CHECK(compared.changes.metrics[0].sites[0].site == "load (app.c:9)");
}

TEST_CASE("sites: what a function's few callers ask for is the function's", "[unit]")
{
    InventedPrograms programs;
    const auto run_of = [&](std::uint64_t more) {
        return RecordedRun{stack({programs.frame("parse", 2), programs.frame("main", 10)}, 100),
                           stack({programs.frame("parse", 2), programs.frame("main", 20)}, 50 + more)};
    };
    const std::vector<RecordedRun> base(2, run_of(0));
    const std::vector<RecordedRun> candidate(2, run_of(5));
    CHECK(compare_sites(programs.frames, base, candidate).changes.metrics[0].sites[0].site == "parse (app.c:2)");
}

TEST_CASE("sites: places of the language and the system are not the site, where there is another", "[unit]")
{
    InventedPrograms programs;
    const std::uint32_t allocate = programs.allocator("malloc");
    const std::uint32_t copy = programs.allocator("strdup", FrameRole::library);
    const auto run_of = [&](std::uint64_t blocks) {
        return RecordedRun{stack({allocate, copy, programs.frame("load", 3), programs.frame("main", 10)}, blocks),
                           stack({allocate, programs.allocator("setlocale", FrameRole::library)}, blocks)};
    };
    const std::vector<RecordedRun> base(2, run_of(10));
    const std::vector<RecordedRun> candidate(2, run_of(20));
    const ComparedSites compared = compare_sites(programs.frames, base, candidate);
    REQUIRE(compared.changes.metrics[0].sites.size() == 2);
    std::set<std::string> named;
    for (const model::SiteChange& site : compared.changes.metrics[0].sites) {
        named.insert(site.site);
    }
    CHECK(named == std::set<std::string>{"load (app.c:3)", "setlocale"});
}

TEST_CASE("sites: without symbols only the same file compares", "[unit]")
{
    InventedPrograms programs;
    const std::vector<RecordedRun> base(2, {stack({programs.nameless("app+0x10", "a")}, 5)});
    const std::vector<RecordedRun> same(2, {stack({programs.nameless("app+0x10", "a")}, 6)});
    CHECK(compare_sites(programs.frames, base, same).changes.metrics[0].sites[0].site == "app+0x10");
    const std::vector<RecordedRun> other(2, {stack({programs.nameless("app+0x10", "b")}, 6)});
    const ComparedSites compared = compare_sites(programs.frames, base, other);
    CHECK(compared.changes.reason == "no symbols: app-a, app-b; sites cannot be compared");
    CHECK(compared.changes.metrics.empty());
    CHECK(compared.is_settled);
}

TEST_CASE("sites: what varies is run again, and told only where it lies apart", "[unit]")
{
    InventedPrograms programs;
    base::Rng rng{7};
    const auto run_of = [&](std::uint64_t steady) {
        return RecordedRun{stack({programs.frame("noisy", 1), programs.frame("main", 10)}, 1000 + rng.below(50)),
                           stack({programs.frame("steady", 2), programs.frame("main", 11)}, steady)};
    };
    std::vector<RecordedRun> base{run_of(100), run_of(100)};
    std::vector<RecordedRun> candidate{run_of(103), run_of(103)};
    CHECK_FALSE(compare_sites(programs.frames, base, candidate).is_settled);
    while (base.size() < varying_site_runs) {
        base.push_back(run_of(100));
        candidate.push_back(run_of(103));
    }
    const ComparedSites compared = compare_sites(programs.frames, base, candidate);
    CHECK(compared.is_settled);
    CHECK(compared.changes.varies);
    REQUIRE_FALSE(compared.changes.metrics.empty());
    REQUIRE(compared.changes.metrics[0].sites.size() == 1);
    CHECK(compared.changes.metrics[0].sites[0].site == "steady (app.c:2)");
}

TEST_CASE("sites: of one program against itself hardly any is told, whatever varies", "[unit][campaign]")
{
    base::Rng rng{11};
    std::size_t told = 0;
    constexpr std::uint32_t comparisons = 50;
    constexpr std::uint32_t sites = 100;
    for (std::uint32_t i = 0; i < comparisons; ++i) {
        InventedPrograms programs;
        const auto run_of = [&] {
            RecordedRun run;
            for (std::uint32_t site = 0; site < sites; ++site) {
                run.push_back(stack({programs.frame(fmt::format("f{}", site), site + 1), programs.frame("main", 500)},
                                    100 + rng.below(2 + site)));
            }
            return run;
        };
        std::vector<RecordedRun> base;
        std::vector<RecordedRun> candidate;
        for (std::uint32_t run = 0; run < varying_site_runs; ++run) {
            base.push_back(run_of());
            candidate.push_back(run_of());
        }
        const ComparedSites compared = compare_sites(programs.frames, base, candidate);
        const model::MetricSites* const allocations = metric_of(compared, "allocations");
        told += allocations == nullptr ? 0 : allocations->sites.size();
    }
    CHECK(told <= 2);  // of 5,000
}

TEST_CASE("sites: names of other lengths forgive what they explain", "[unit]")
{
    InventedPrograms programs;
    const std::vector<RecordedRun> base(2, {stack({programs.frame("main", 10)}, 1000, 100)});
    const std::vector<RecordedRun> candidate(2, {stack({programs.frame("main", 10)}, 1000, 101)});
    CHECK_FALSE(compare_sites(programs.frames, base, candidate).changes.metrics.empty());
    CHECK(compare_sites(programs.frames, base, candidate, 20).changes.metrics.empty());
}

TEST_CASE("sites: findings follow the verdicts, and say so where nothing differs", "[unit]")
{
    InventedPrograms programs;
    const std::vector<RecordedRun> base(2, two_hundred(programs, 0, 5, 0));
    const std::vector<RecordedRun> candidate(2, two_hundred(programs, 0, 5, 9));
    const model::SiteComparison sites = compare_sites(programs.frames, base, candidate).changes;
    const std::vector<MetricEffect> verdicts{
        {.metric = "allocations", .value = 2.0, .base_value = 1.0, .verdict = Verdict::regressed},
        {.metric = "allocated_bytes", .verdict = Verdict::same},
        {.metric = "wall_time", .verdict = Verdict::regressed}};
    const auto judged = site_findings(sites, verdicts);
    REQUIRE(judged.size() == 1);
    CHECK(judged[0].kind == FindingKind::site_changes);
    CHECK(judged[0].importance == Importance::failure);
    CHECK(site_findings(sites).size() == 2);  // calls and bytes
    const auto equal = site_findings(compare_sites(programs.frames, base, base).changes, verdicts);
    REQUIRE(equal.size() == 1);
    CHECK(equal[0].kind == FindingKind::sites_equal);
    CHECK(site_findings({.reason = "it is static"})[0].kind == FindingKind::sites_unnamed);
}

TEST_CASE("sites: a function's lines are paired so that as little as possible differs", "[unit]")
{
    using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
    const std::vector<LineUse> base{{10, 100, 1000}, {12, 7, 70}, {14, 50, 500}};
    CHECK(pair_lines(base, base) == Pairs{{0, 0}, {1, 1}, {2, 2}});
    const std::vector<LineUse> moved{{20, 100, 1000}, {22, 7, 70}, {24, 51, 510}};
    CHECK(pair_lines(base, moved) == Pairs{{0, 0}, {1, 1}, {2, 2}});
    const std::vector<LineUse> inserted{{10, 100, 1000}, {11, 30, 300}, {13, 7, 70}, {15, 50, 500}};
    CHECK(pair_lines(base, inserted) == Pairs{{0, 0}, {no_line, 1}, {1, 2}, {2, 3}});
    const std::vector<LineUse> removed{{10, 100, 1000}, {14, 50, 500}};
    CHECK(pair_lines(base, removed) == Pairs{{0, 0}, {1, no_line}, {2, 1}});
    CHECK(pair_lines(base, {}) == Pairs{{0, no_line}, {1, no_line}, {2, no_line}});
    CHECK(pair_lines({}, {}).empty());
    const std::vector<LineUse> alike{{1, 5, 5}, {2, 5, 5}, {4, 5, 5}};
    const std::vector<LineUse> second_gone{{1, 5, 5}, {4, 5, 5}};
    CHECK(pair_lines(alike, second_gone) == Pairs{{0, 0}, {1, no_line}, {2, 1}});
}
