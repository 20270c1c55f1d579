#include "core/model/plan.hpp"

#include <algorithm>
#include <ctime>
#include <string>

#include "core/model/concat_case.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep::model;

namespace {

Step alloc(std::string as, std::uint64_t elements, std::uint64_t count = 1)
{
    AllocStep step;
    step.as = std::move(as);
    step.count = count;
    step.dtype = DType::float64;
    step.shape = {elements};
    step.touch = Touch::full;
    return {.operation = step};
}

Step drop(std::string target)
{
    return {.operation = DropStep{std::move(target)}};
}

Step repeat(std::uint64_t times, std::vector<Step> steps)
{
    return {.operation = RepeatStep{times, std::move(steps)}};
}

Case with(ReleaseSpec release, std::vector<Step> steps)
{
    Case one;
    one.release = release;
    one.work = std::move(steps);
    return one;
}

}  // namespace

TEST_CASE("axes expand to every combination, sorted by name, less the exclusions", "[unit]")
{
    const std::vector<Axis> axes{{"size", {std::int64_t{1}, std::int64_t{2}}},
                                 {"mode", {std::string{"a"}, std::string{"b"}}}};
    const auto all = expand(axes, {}, 100);
    REQUIRE(all);
    REQUIRE(all->size() == 4);
    CHECK(case_id("s", all->front()) == "s/mode=a/size=1");
    CHECK(case_id("s", all->back()) == "s/mode=b/size=2");

    const auto some = expand(axes, {{{"mode", std::string{"b"}}, {"size", std::int64_t{2}}}}, 100);
    CHECK(some->size() == 3);
    CHECK(!expand(axes, {}, 3));
    CHECK(expand({}, {}, 1)->size() == 1);
    CHECK(case_id("s", {}) == "s");
}

TEST_CASE("a pattern matches by text, whatever the type", "[unit]")
{
    const std::vector<Param> params{{"mode", std::string{"a"}}, {"size", std::int64_t{4096}}};
    CHECK(matches(params, {}));
    CHECK(matches(params, {{"size", std::string{"4096"}}}));
    CHECK(!matches(params, {{"size", std::int64_t{1}}}));
    CHECK(!matches(params, {{"threads", std::int64_t{1}}}));
}

TEST_CASE("the peak estimate follows the release mode", "[unit]")
{
    const std::vector<Step> churn{repeat(1000, {alloc("a", 1000), drop("a")})};
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::refcount}, churn)) == 8000);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::leak}, churn)) == 8'000'000);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::finalizer}, churn)) == 8'000'000);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::deferred_batch, .batch = 16}, churn)) == 16 * 8000);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::finalizer, .gated = true, .collect_every = 100}, churn)) ==
          100 * 8000);
}

TEST_CASE("rebinding holds the old and the new arrays at once", "[unit]")
{
    CHECK(estimated_peak_bytes(with({}, {repeat(50, {alloc("a", 1000)})})) == 16'000);
    CHECK(estimated_peak_bytes(with({}, {alloc("a", 1000, 100)})) == 800'000);
}

TEST_CASE("the estimate counts what a pool rounds up, and what it keeps", "[unit]")
{
    const auto pooled = [](std::vector<Step> steps, PoolSpec pool) {
        Case one = with({}, std::move(steps));
        one.memory.pool = pool;
        return estimated_peak_bytes(one);
    };
    const PoolSpec pow2{.kind = PoolKind::classes, .classes = ClassScheme::pow2};
    const PoolSpec exact{.kind = PoolKind::classes, .classes = ClassScheme::exact};
    CHECK(pooled({alloc("a", 1000)}, pow2) == 8192);  // of 8000
    CHECK(pooled({alloc("a", 1000)}, exact) == 8000);
    CHECK(pooled({alloc("a", 1000)}, {.kind = PoolKind::classes, .classes = ClassScheme::pow2, .largest = 4096}) ==
          8000);
    CHECK(pooled({alloc("a", 1000)}, {.kind = PoolKind::tlsf, .chunk_bytes = 1U << 20U}) == 1U << 20U);
    CHECK(pooled({repeat(50, {alloc("a", 1000), drop("a")})}, pow2) == 8192);
    CHECK(pooled({alloc("a", 1000), drop("a"), alloc("b", 2000)}, pow2) == 8192 + 16384);  // of another class
    CHECK(pooled({alloc("a", 1000), drop("a"), {.operation = PurgeStep{}}, alloc("b", 2000)}, pow2) == 16384);
}

TEST_CASE("the estimate counts every thread of a block, and of files only what a stream keeps", "[unit]")
{
    const Step block{.operation = ParallelStep{4, {repeat(50, {alloc("a", 1000), drop("a")})}}};
    CHECK(estimated_peak_bytes(with({}, {block})) == 4 * 8000);
    Case file = with({}, {alloc("a", 1'000'000'000), {.operation = StreamStep{"a", 1U << 20U, 2, true}}});
    file.memory.resource = ResourceKind::file;
    CHECK(estimated_peak_bytes(file) == 3U << 20U);
}

TEST_CASE("the estimate of alloc_free is one block for each thread", "[unit]")
{
    const Step turns{.operation = AllocFreeStep{3000, 1'000'000}};
    CHECK(estimated_peak_bytes(with({}, {turns})) == 3000);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::leak}, {repeat(50, {turns})})) == 3000);
    CHECK(estimated_peak_bytes(with({}, {alloc("a", 1000), turns, drop("a")})) == 8000 + 3000);
    CHECK(estimated_peak_bytes(with({}, {{.operation = ParallelStep{4, {turns, turns}}}})) == 12'000);
    Case pooled = with({}, {turns, alloc("a", 1000)});
    pooled.memory.pool = {.kind = PoolKind::classes, .classes = ClassScheme::pow2};
    CHECK(estimated_peak_bytes(pooled) == 4096 + 8192);  // the pool keeps the block
    CHECK(allocation_count({turns}) == 0);
}

TEST_CASE("a drain empties the estimate only after a collection", "[unit]")
{
    const ReleaseSpec finalizer{.mode = ReleaseMode::finalizer};
    const Step collect{.operation = CollectStep{}};
    const Step drain{.operation = DrainStep{}};
    CHECK(estimated_peak_bytes(with(finalizer, {alloc("a", 1000), drop("a"), collect, drain, alloc("a", 1000)})) ==
          8000);
    CHECK(estimated_peak_bytes(with(finalizer, {alloc("a", 1000), drop("a"), drain, alloc("a", 1000)})) == 16'000);
}

TEST_CASE("a sweep has the cases of one placement, mode, memory and release, in their order", "[unit]")
{
    const auto placed = [](Placement placement, std::string mode, ReleaseSpec release = {}) {
        Case one = with(release, {alloc("a", 1000)});
        one.placement = placement;
        one.params = {{"mode", std::move(mode)}};
        return one;
    };
    const ReleaseSpec leak{.mode = ReleaseMode::leak};
    const std::vector<Case> cases{placed(Placement::alone, "x"),      placed(Placement::sweep, "x"),
                                  placed(Placement::alone, "x"),      placed(Placement::sweep, "y"),
                                  placed(Placement::sweep, "x"),      placed(Placement::drain, "x"),
                                  placed(Placement::sweep, "x", leak)};
    using Groups = std::vector<std::vector<std::size_t>>;
    CHECK(sweeps(cases) == Groups{{0}, {1, 4}, {2}, {3}, {5}, {6}});
}

TEST_CASE("the groups of many cases are those of few, in the order of their first cases", "[unit]")
{
    constexpr std::size_t modes = 500;
    std::vector<Case> cases(60'000);
    for (std::size_t index = 0; index < cases.size(); ++index) {
        cases[index].placement = index % 2 == 0 ? Placement::alone : Placement::sweep;
        cases[index].params = {{"mode", std::to_string(index % modes)}};
    }
    // A look at every group for each of them would be 400 million comparisons and more, each a miss in the caches.
    const std::clock_t began = std::clock();
    const auto groups = sweeps(cases);
    CHECK((std::clock() - began) / CLOCKS_PER_SEC < 5);
    CHECK(groups.size() == cases.size() / 2 + modes / 2);
    std::size_t members = 0;
    std::size_t next = 0;
    bool ordered = true;
    for (const auto& group : groups) {
        ordered = ordered && group.front() >= next && std::ranges::is_sorted(group);
        next = group.front();
        members += group.size();
    }
    CHECK(ordered);
    CHECK(members == cases.size());
}

TEST_CASE("in a sweep the estimate counts what earlier cases leave", "[unit]")
{
    const auto peaks = [](ReleaseSpec release, Placement placement, std::uint64_t budget = 0) {
        Case one = with(release, {alloc("a", 1000), drop("a")});
        one.placement = placement;
        return estimated_peaks_bytes({one, one, one}, budget);
    };
    using Bytes = std::vector<std::uint64_t>;
    const ReleaseSpec leak{.mode = ReleaseMode::leak};
    const ReleaseSpec finalizer{.mode = ReleaseMode::finalizer};
    CHECK(peaks(leak, Placement::alone) == Bytes{8000, 8000, 8000});
    CHECK(peaks(leak, Placement::sweep) == Bytes{8000, 16'000, 24'000});
    CHECK(peaks(leak, Placement::drain) == Bytes{8000, 16'000, 24'000});
    CHECK(peaks(finalizer, Placement::sweep) == Bytes{8000, 16'000, 24'000});
    CHECK(peaks(finalizer, Placement::drain) == Bytes{8000, 8000, 8000});
    CHECK(peaks({}, Placement::sweep) == Bytes{8000, 8000, 8000});
    // What is above the budget is not run, so it leaves nothing.
    CHECK(peaks(leak, Placement::sweep, 8000) == Bytes{8000, 16'000, 16'000});
}

TEST_CASE("concat: the estimate has the inputs, and the results that the mode keeps", "[unit]")
{
    const ConcatCase& what = *find_concat_case("dtype_float64_1M");
    const std::vector<Step> steps{{.operation = ConcatStep{&what, 20, 100, {}}}};
    constexpr std::uint64_t result = 16'000'000;
    CHECK(estimated_peak_bytes(with({}, steps)) == 2 * result);
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::leak}, steps)) == result + 120 * result);
    ReleaseSpec pressed{.mode = ReleaseMode::finalizer};
    pressed.pressure.rule = PressureRule::coreclr;
    CHECK(estimated_peak_bytes(with(pressed, steps)) == result + 2 * ((40U << 20U) + result));
    CHECK(written_bytes(steps) == 120 * result);
    CHECK(allocation_count(steps) == 4 + 120);
    CHECK(timed_call_count(steps) == 100);
    const std::vector<Step> into{{.operation = ConcatStep{find_concat_case("out_mixed_to_float64"), 20, 100, {}}}};
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::leak}, into)) == 24'000'000);
    CHECK(allocation_count(into) == 4 + 1);
}

TEST_CASE("estimates saturate instead of wrapping", "[unit]")
{
    const std::vector<Step> absurd{repeat(1'000'000'000, {alloc("a", 1ULL << 50, 1'000'000'000)})};
    CHECK(estimated_peak_bytes(with({.mode = ReleaseMode::leak}, absurd)) == ~0ULL);
    CHECK(written_bytes(absurd) == ~0ULL);
    CHECK(allocation_count({repeat(1ULL << 40, {repeat(1ULL << 40, absurd)})}) == ~0ULL);
}

TEST_CASE("the null resource and a limit bound the estimate", "[unit]")
{
    Case one = with({}, {alloc("a", 1000)});
    one.memory.limit_bytes = 100;
    CHECK(estimated_peak_bytes(one) == 100);
    one.memory.resource = ResourceKind::null;
    CHECK(estimated_peak_bytes(one) == 0);
}

TEST_CASE("written bytes and samples multiply through loops", "[unit]")
{
    const Step sample{.operation = SampleStep{"p"}};
    const std::vector<Step> steps{repeat(10, {alloc("a", 1000), sample, {.operation = WriteStep{"a", Touch::full}}})};
    CHECK(written_bytes(steps) == 160'000);
    CHECK(sample_count(steps) == 10);
    CHECK(allocation_count(steps) == 10);
}

TEST_CASE("every name table is complete and unambiguous", "[unit]")
{
    for (const auto& entry : names<DType>()) {
        CHECK(value_of<DType>(entry.name) == entry.value);
        CHECK(size_bytes(entry.value) != 0);
    }
    CHECK(value_of<ReleaseMode>("finalizer") == ReleaseMode::finalizer);
    CHECK(!value_of<ReleaseMode>("finaliser"));
    CHECK(operation_name(Operation{RepeatStep{}}) == "repeat");
    CHECK(operation_name(Operation{AllocStep{}}) == "alloc");
    CHECK(!array_bytes({.dtype = DType::float64, .shape = {1ULL << 62}}));
}
