#include "core/engine/steps/interpreter.hpp"

#include "core/engine/steps/worker.hpp"
#include "tests/engine/steps.hpp"

using namespace memsweep;
using engine::Ending;
using model::Step;
using tests::alloc;
using tests::collect;
using tests::drain;
using tests::drop;
using tests::repeat;
using tests::sample;

namespace {

Step untouched(std::string as, std::uint64_t bytes)
{
    return tests::alloc(std::move(as), bytes, model::Touch::none);
}

Step timed(Step step)
{
    step.timed = true;
    return step;
}

engine::Attempt run(std::vector<Step> steps, model::ReleaseSpec release = {}, model::MemorySpec memory = {})
{
    const tests::FakeClock clock;
    tests::FakeProbe probe;
    engine::InProcessExecutor executor{{clock, probe}};
    return executor.run(tests::program_of(std::move(steps), release, memory), {}, [](int /*pid*/) {});
}

}  // namespace

TEST_CASE("live bytes at named points follow the release mode exactly", "[unit]")
{
    const std::vector<Step> steps{alloc("a", 1000, model::Touch::full, 10),
                                  sample("alloc"),
                                  drop("a"),
                                  sample("drop"),
                                  collect,
                                  drain,
                                  sample("drain")};
    const auto live = [&](model::ReleaseSpec release) {
        const engine::Attempt attempt = run(steps, release);
        REQUIRE(attempt.ending == Ending::finished);
        REQUIRE(attempt.steps().points.size() == 3);
        return std::vector<std::uint64_t>{attempt.steps().points[0].live_bytes, attempt.steps().points[1].live_bytes,
                                          attempt.steps().points[2].live_bytes};
    };
    using Bytes = std::vector<std::uint64_t>;
    CHECK(live({.mode = model::ReleaseMode::refcount}) == Bytes{10'000, 0, 0});
    CHECK(live({.mode = model::ReleaseMode::finalizer}) == Bytes{10'000, 10'000, 0});
    CHECK(live({.mode = model::ReleaseMode::deferred_batch, .batch = 4}) == Bytes{10'000, 2'000, 0});
    CHECK(live({.mode = model::ReleaseMode::leak}) == Bytes{10'000, 10'000, 10'000});
}

TEST_CASE("floating bytes are the live bytes that the program cannot reach", "[unit]")
{
    const engine::Attempt attempt = run({untouched("a", 1000), untouched("b", 500), drop("a"), sample("p")},
                                        {.mode = model::ReleaseMode::finalizer});
    CHECK(attempt.steps().points[0].live_bytes == 1500);
    CHECK(attempt.steps().points[0].floating_bytes == 1000);
    CHECK(attempt.steps().record.discipline.floating_bytes_peak == 1000);
}

TEST_CASE("rebinding a name makes the new array before the old one goes", "[unit]")
{
    const engine::Attempt attempt = run({repeat(50, {untouched("a", 1000)}), sample("p")});
    CHECK(attempt.steps().record.live_bytes_peak == 2000);
    CHECK(attempt.steps().points[0].live_bytes == 1000);
    CHECK(attempt.steps().record.arrays == 50);
    CHECK(attempt.steps().record.allocated_bytes == 50'000);
}

TEST_CASE("without accounting nothing is counted, and a limit still holds", "[unit]")
{
    model::MemorySpec uncounted;
    uncounted.accounting = model::Accounting::off;
    uncounted.limit_bytes = 1500;
    const engine::Attempt attempt = run({untouched("a", 1000), untouched("b", 1000)}, {}, uncounted);
    CHECK(attempt.ending == Ending::refused);
    CHECK_THAT(attempt.reason, Catch::Contains("was refused after 1 arrays"));
    CHECK(attempt.steps().record.live_bytes_peak == 0);
    CHECK(attempt.steps().record.arrays == 0);
    CHECK(attempt.steps().record.array_counts.made == 1);
}

TEST_CASE("samples are taken out of time and faults", "[unit]")
{
    const engine::Attempt without = run({untouched("a", 10), drop("a")});
    const engine::Attempt with = run({untouched("a", 10), sample("x"), sample("y"), drop("a")});
    CHECK(with.steps().record.minor_faults == 0);  // the fake's snapshots cost three faults each
    CHECK(without.steps().record.minor_faults == 0);
    CHECK(with.steps().record.kernel_ns == 0);
    CHECK(with.steps().points[1].minor_faults == 0);
    // Only the two clock readings that bracket each sample remain.
    CHECK(with.steps().record.wall_ns - without.steps().record.wall_ns <= 2 * 2 * 1000);
}

TEST_CASE("marked steps alone are timed and counted", "[unit]")
{
    const engine::Attempt attempt =
        run({repeat(5, {untouched("a", 10), drop("a")}), timed(repeat(7, {untouched("a", 10), drop("a")}))});
    CHECK(attempt.steps().record.arrays == 12);
    CHECK(attempt.steps().record.timed_arrays == 7);

    const engine::Attempt nested = run({timed(repeat(3, {timed(untouched("a", 10))}))});
    CHECK(nested.steps().record.timed_arrays == 3);
}

TEST_CASE("every phase adds up over its entries", "[unit]")
{
    Step inner = untouched("a", 10);
    inner.phase = "make";
    const engine::Attempt attempt = run({repeat(4, {inner, drop("a")})});
    REQUIRE(attempt.steps().phases.size() == 2);
    CHECK(attempt.steps().phases[0].entered == 4);  // "make" is named first, inside the loop
    CHECK(attempt.steps().phases[1].entered == 1);  // the loop itself, named after its operation
    CHECK(attempt.steps().phases[1].time_ns >= attempt.steps().phases[0].time_ns);
}

TEST_CASE("pages touched count each array's first write only", "[unit]")
{
    model::MemorySpec pages;
    pages.resource = model::ResourceKind::pages;
    const Step write{.operation = model::WriteStep{"a", model::Touch::page}};
    CHECK(run({alloc("a", 40960, model::Touch::page), write, write}, {}, pages)
              .steps()
              .record.array_counts.pages_touched == 10);
    CHECK(run({untouched("a", 40960), write, write}, {}, pages).steps().record.array_counts.pages_touched == 10);
    CHECK(
        run({repeat(3, {alloc("a", 4096, model::Touch::full)})}, {}, pages).steps().record.array_counts.pages_touched ==
        3);
}

TEST_CASE("a refused allocation ends the repetition and says why", "[unit]")
{
    model::MemorySpec limited;
    limited.limit_bytes = 3500;
    const engine::Attempt attempt = run({repeat(10, {untouched("a", 1000)}), untouched("b", 3000)}, {}, limited);
    CHECK(attempt.ending == Ending::refused);
    CHECK(attempt.steps().record.arrays == 10);
    CHECK_THAT(attempt.reason, Catch::Contains("2.93 KiB") && Catch::Contains("1,000 B live"));

    model::MemorySpec failing;
    failing.fail_every = 3;
    CHECK(run({repeat(10, {untouched("a", 1000)})}, {}, failing).steps().record.arrays == 2);
}

TEST_CASE("alloc_free makes and frees one block at a time, under any release mode", "[unit]")
{
    for (const model::ReleaseMode mode : {model::ReleaseMode::refcount, model::ReleaseMode::leak,
                                          model::ReleaseMode::finalizer, model::ReleaseMode::arena}) {
        INFO(model::name_of(mode));
        model::ReleaseSpec release;
        release.mode = mode;
        const engine::Attempt attempt =
            run({tests::alloc_free(64, 10), timed(tests::alloc_free(100, 1000)), sample("end")}, release);
        CHECK(attempt.steps().record.arrays == 1010);
        CHECK(attempt.steps().record.timed_arrays == 1000);
        CHECK(attempt.steps().record.allocated_bytes == 640 + 100'000);
        CHECK(attempt.steps().record.live_bytes_peak == 100);
        CHECK(attempt.steps().points.front().live_bytes == 0);
        CHECK(attempt.steps().record.outstanding == 0);
    }
    CHECK(tests::program_of({tests::alloc_free(64, 1'000'000)}, {.mode = model::ReleaseMode::leak})
              .steps()
              .reserved_blocks == 0);
}

TEST_CASE("a block that alloc_free is refused ends the repetition", "[unit]")
{
    model::MemorySpec failing;
    failing.fail_every = 30;
    const engine::Attempt attempt = run({tests::alloc_free(100, 1000), untouched("a", 10)}, {}, failing);
    CHECK(attempt.ending == Ending::refused);
    CHECK(attempt.steps().record.arrays == 29);
    CHECK(attempt.steps().record.refused_bytes == 100);
    CHECK(attempt.steps().record.refused_after_arrays == 29);
}

TEST_CASE("binary makes as many results as its operands have arrays", "[unit]")
{
    const Step add{.operation = model::BinaryStep{model::BinaryFunction::add, "c", "a", "b"}};
    const Step again{.operation = model::BinaryStep{model::BinaryFunction::multiply, "c", "c", "b"}};
    const engine::Attempt attempt =
        run({alloc("a", 100, model::Touch::full, 3), alloc("b", 100, model::Touch::full, 3), add, again, sample("p")});
    REQUIRE(attempt.ending == Ending::finished);
    CHECK(attempt.steps().record.arrays == 12);
    CHECK(attempt.steps().points[0].live_bytes == 900);
}

TEST_CASE("collect_every collects without being asked and gated waits", "[unit]")
{
    const model::ReleaseSpec gated{.mode = model::ReleaseMode::finalizer, .gated = true, .collect_every = 10};
    const engine::Attempt attempt = run({repeat(100, {untouched("a", 1000), drop("a")})}, gated);
    CHECK(attempt.steps().record.live_bytes_peak == 10'000);
    CHECK(attempt.steps().record.discipline.collections == 9);
}

TEST_CASE("the null resource runs everything but touching", "[unit]")
{
    model::MemorySpec null;
    null.resource = model::ResourceKind::null;
    const engine::Attempt attempt = run({repeat(1000, {untouched("a", 1ULL << 40), drop("a")})}, {}, null);
    CHECK(attempt.ending == Ending::finished);
    CHECK(attempt.steps().record.arrays == 1000);
}

TEST_CASE("a repetition cannot take more samples than are kept", "[unit]")
{
    model::Case one;
    one.work = model::Steps{repeat(engine::max_points + 1, {sample("p")})};
    const auto program = engine::compile(one);
    REQUIRE(!program);
    CHECK_THAT(program.error().message, Catch::Contains("100001 samples"));
}

TEST_CASE("an array that no memory could hold is refused before anything runs", "[unit]")
{
    model::AllocStep step;
    step.as = "a";
    const auto refused = [&step](std::vector<std::uint64_t> shape) {
        step.shape = std::move(shape);
        model::Case one;
        one.work = model::Steps{{.operation = step}};
        const auto program = engine::compile(one);
        return !program && program.error().code == base::ErrorCode::invalid_input;
    };
    CHECK(refused({1, 1, 1, 1, 1, 1, 1, 1, 1}));
    CHECK(refused({1ULL << 32, 1ULL << 32}));
    CHECK(refused({0, 1ULL << 32, 1ULL << 32}));
    CHECK_FALSE(refused({0, 1ULL << 32}));
}
