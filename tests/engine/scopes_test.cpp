// Blocks and exceptions: which names end with a scope, what an exception leaves out, and in which order it happens.
#include <vector>

#include "tests/engine/steps.hpp"

using namespace memsweep;
using model::ReleaseMode;
using model::Step;
using tests::alloc;
using tests::collect;
using tests::drain;
using tests::drop;
using tests::free;
using tests::read;
using tests::repeat;
using tests::run_steps;
using tests::sample;
using tests::scope;
using tests::throw_every;

namespace {

using Bytes = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("names first made in a scope end with it, those of outside stay", "[unit]")
{
    const tests::Ran ran =
        run_steps({alloc("out", 1), scope({alloc("a", 10), alloc("b", 100), alloc("out", 2), sample("in")}),
                   sample("after"), drop("out"), sample("end")});
    CHECK(ran.live_bytes() == Bytes{112, 2, 0});
}

TEST_CASE("a name dropped inside and made again there is the outer block's", "[unit]")
{
    const tests::Ran ran = run_steps({alloc("a", 1), scope({drop("a"), alloc("a", 10)}), sample("after")});
    CHECK(ran.live_bytes() == Bytes{10});
}

TEST_CASE("scopes nest: each ends its own names", "[unit]")
{
    const tests::Ran ran = run_steps(
        {scope({alloc("a", 1), scope({alloc("b", 10), scope({alloc("c", 100), sample("three")}), sample("two")}),
                alloc("d", 1000), sample("one")}),
         sample("none")});
    CHECK(ran.live_bytes() == Bytes{111, 11, 1001, 0});
}

TEST_CASE("a name that an inner scope ended may be made again in the outer one", "[unit]")
{
    const tests::Ran ran =
        run_steps({scope({scope({alloc("a", 1)}), sample("between"), alloc("a", 10), sample("one")}), sample("none")});
    CHECK(ran.live_bytes() == Bytes{0, 10, 0});
}

TEST_CASE("a scope in a loop begins and ends with every turn", "[unit]")
{
    const tests::Ran ran = run_steps({repeat(10, {scope({alloc("a", 100), alloc("b", 1)}), sample("turn")})});
    CHECK(ran.live_bytes() == Bytes(10, 0));
    CHECK(ran.attempt.steps().record.live_bytes_peak == 101);
}

TEST_CASE("however many names a scope has, all of them end with it", "[unit]")
{
    std::vector<Step> many;
    for (int i = 0; i < 200; ++i) {
        many.push_back(alloc("name" + std::to_string(i), 10));
    }
    many.push_back(sample("in"));
    CHECK(run_steps({scope(many), sample("after")}).live_bytes() == Bytes{2000, 0});
    std::vector<Step> often;
    for (int i = 0; i < 100; ++i) {
        often.push_back(alloc("a", 10));
    }
    often.push_back(alloc("b", 5));
    often.push_back(sample("in"));
    CHECK(run_steps({scope(often), sample("after")}).live_bytes() == Bytes{15, 0});
}

TEST_CASE("the end of a scope is no manual free", "[unit]")
{
    const tests::Ran ran = run_steps({scope({alloc("a", 100)}), sample("after")}, {.mode = ReleaseMode::explicit_free});
    CHECK(ran.live_bytes() == Bytes{100});
    CHECK(ran.metric("freed_early") == 0);
}

TEST_CASE("an exception every Nth time leaves out the rest of its scope", "[unit]")
{
    const tests::Ran ran =
        run_steps({repeat(10, {scope({alloc("a", 1), throw_every(3), sample("reached")})}), sample("end")});
    CHECK(ran.attempt.steps().points.size() == 8);  // not at turns 3, 6 and 9
    CHECK(ran.attempt.steps().record.arrays == 10);
    CHECK(ran.attempt.ending == engine::Ending::finished);
    CHECK(run_steps({repeat(10, {scope({throw_every(1), sample("reached")})})}).attempt.steps().points.empty());
    CHECK(run_steps({repeat(10, {scope({throw_every(11), sample("reached")})})}).attempt.steps().points.size() == 10);
}

TEST_CASE("each throw counts for itself", "[unit]")
{
    const tests::Ran ran = run_steps({repeat(12, {scope({throw_every(3), sample("x"), throw_every(4), sample("y")})})});
    std::uint64_t x = 0;
    for (const engine::PointRecord& point : ran.attempt.steps().points) {
        x += point.name == 0 ? 1U : 0U;
    }
    CHECK(x == 8);                                      // 12 turns less 4
    CHECK(ran.attempt.steps().points.size() - x == 6);  // of these 8, two more were left
}

TEST_CASE("an exception leaves the loops inside its scope, and only the innermost scope", "[unit]")
{
    const tests::Ran ran =
        run_steps({scope({alloc("out", 1000), scope({repeat(10, {alloc("a", 10), throw_every(4), sample("turn")})}),
                          sample("after")}),
                   sample("end")});
    CHECK(ran.live_bytes() == Bytes{1010, 1010, 1010, 1000, 0});
    CHECK(ran.attempt.steps().record.arrays == 5);
}

TEST_CASE("an exception outside of every scope ends the program, and the repetition is whole", "[unit]")
{
    const tests::Ran ran = run_steps({alloc("a", 1), throw_every(1), alloc("b", 1), sample("p")});
    CHECK(ran.attempt.ending == engine::Ending::finished);
    CHECK(ran.attempt.steps().record.arrays == 1);
    CHECK(ran.attempt.steps().points.empty());
}

TEST_CASE("what an exception skipped is freed as its mode does without a manual free", "[unit]")
{
    const std::vector<Step> steps{repeat(10, {scope({alloc("a", 100), throw_every(2), drop("a")})}), sample("churned"),
                                  collect, drain, sample("drained")};
    const auto live = [&](const model::ReleaseSpec& release) { return run_steps(steps, release).live_bytes(); };
    CHECK(live({}) == Bytes{0, 0});
    CHECK(live({.mode = ReleaseMode::explicit_free}) == Bytes{500, 500});
    CHECK(live({.mode = ReleaseMode::unsafe_free, .fallback = model::Fallback::sweep}) == Bytes{500, 0});
    CHECK(live({.mode = ReleaseMode::finalize_now, .fallback = model::Fallback::finalizer}) == Bytes{500, 0});
    CHECK(live({.fallback = model::Fallback::finalizer}) == Bytes{500, 0});
    CHECK(live({.mode = ReleaseMode::finalizer}) == Bytes{1000, 0});
}

TEST_CASE("an arena's memory goes with the scope, and by an exception only if it is restored", "[unit]")
{
    const std::vector<Step> steps{repeat(10, {scope({alloc("a", 5000), throw_every(2), drop("a")}), sample("turn")})};
    const tests::Ran skipped = run_steps(steps, {.mode = ReleaseMode::arena, .arena = {.slab_bytes = 4096}});
    CHECK(skipped.live_bytes() == Bytes{0, 5000, 5000, 10'000, 10'000, 15'000, 15'000, 20'000, 20'000, 25'000});
    const tests::Ran restored =
        run_steps(steps, {.mode = ReleaseMode::arena, .arena = {.slab_bytes = 4096, .restore_on_throw = true}});
    CHECK(restored.live_bytes() == Bytes(10, 0));
    CHECK(restored.metric("arena_bytes") == 50'000);
    const tests::Ran slabs =
        run_steps(steps, {.mode = ReleaseMode::arena, .arena = {.slab_bytes = 8192, .restore_on_throw = true}});
    CHECK(slabs.metric("arena_slabs") == 10);  // each scope acquires the first one anew
}

TEST_CASE("a free leaves the name, a drop ends it", "[unit]")
{
    const tests::Ran ran =
        run_steps({alloc("a", 100), free("a"), sample("freed"), drop("a"), alloc("a", 10), sample("again")},
                  {.mode = ReleaseMode::explicit_free});
    CHECK(ran.live_bytes() == Bytes{0, 10});
    const tests::Ran disregarded =
        run_steps({alloc("a", 100), free("a"), sample("freed"), drop("a"), sample("dropped")});
    CHECK(disregarded.live_bytes() == Bytes{100, 0});
}

TEST_CASE("a checksum follows the arrays and their order, not when they are released", "[unit]")
{
    const auto numbers = [](std::string as, std::uint64_t elements) {
        return Step{
            .operation = model::AllocStep{
                .as = std::move(as), .dtype = model::DType::float64, .shape = {elements}, .fill = model::Fill::arange}};
    };
    const double ab = run_steps({numbers("a", 10), numbers("b", 20), read("a"), read("b")}).metric("checksum");
    const double ba = run_steps({numbers("a", 10), numbers("b", 20), read("b"), read("a")}).metric("checksum");
    const double late = run_steps({numbers("a", 10), numbers("b", 20), read("a"), drop("a"), read("b"), drop("b")},
                                  {.mode = ReleaseMode::finalizer})
                            .metric("checksum");
    CHECK(ab != ba);
    CHECK(ab == late);
    CHECK(ab == run_steps({numbers("a", 10), numbers("b", 20), read("a"), read("b")}).metric("checksum"));
    CHECK(run_steps({numbers("a", 10)}).report.metrics.size() + 1 ==
          run_steps({numbers("a", 10), read("a")}).report.metrics.size());
}
