// The concat step: what it times, what it leaves to the release mode, what it checks.
#include "core/engine/steps/concat_calls.hpp"

#include "core/engine/steps/worker_executor.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/engine/steps.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;
using namespace memsweep::tests;
using model::ReleaseMode;

namespace {

constexpr std::uint64_t input_bytes = 8000;   // of size_1000: two arrays of 1000 int32
constexpr std::uint64_t result_bytes = 8000;  // and their concatenation

}  // namespace

TEST_CASE("concat: each timed call is one sample, the upper middle of them is time_per_op", "[unit]")
{
    const Ran ran = run_steps({concat("size_1000", 3, 6)});
    REQUIRE(ran.attempt.ending == engine::Ending::finished);
    // The clock advances by 1 us per reading: one between the two ends of a call, two more around the check.
    CHECK(ran.attempt.steps().call_times_ns == std::vector<std::int64_t>{1000, 1000, 1000, 1000, 1000, 2000});
    CHECK_THAT(ran.metric("time_per_op"), Catch::WithinRel(1e-6, 1e-12));
    CHECK_THAT(ran.metric("call_time_min"), Catch::WithinRel(1e-6, 1e-12));
    CHECK_THAT(ran.metric("call_time_max"), Catch::WithinRel(2e-6, 1e-12));
    CHECK_THAT(ran.metric("call_time_mean"), Catch::WithinRel(7e-6 / 6, 1e-12));
    CHECK(ran.metric("faults_per_op") == 0);
    CHECK(ran.metric("checksum_ok") == 1);
    CHECK(ran.metric("allocations") == 2 + 3 + 6);
    CHECK(ran.metric("allocated_bytes") == input_bytes + 9 * result_bytes);
    // Making the inputs and warming up are left out of the phase: six calls of two readings, and what reads the phase.
    REQUIRE(ran.report.phases.size() == 1);
    CHECK(ran.report.phases.front().name == "concat");
    CHECK(ran.report.phases.front().time < 20e-6);
}

TEST_CASE("concat: what becomes of the results is the release mode's", "[unit]")
{
    const std::vector<model::Step> steps{concat("size_1000", 2, 4), sample("called"), collect, drain,
                                         sample("drained")};
    const auto live = [&](ReleaseMode mode) { return run_steps(steps, {.mode = mode}).live_bytes(); };
    using Bytes = std::vector<std::uint64_t>;
    const std::uint64_t all = input_bytes + 6 * result_bytes;
    CHECK(live(ReleaseMode::refcount) == Bytes{input_bytes, input_bytes});
    CHECK(live(ReleaseMode::immediate) == Bytes{input_bytes, input_bytes});
    CHECK(live(ReleaseMode::finalizer) == Bytes{all, input_bytes});
    CHECK(live(ReleaseMode::sweep) == Bytes{all, input_bytes});
    CHECK(live(ReleaseMode::leak) == Bytes{all, all});
    CHECK(live(ReleaseMode::explicit_free) == Bytes{all, all});  // dropped, not freed by hand
    CHECK(run_steps(steps, {.mode = ReleaseMode::pool}).metric("allocations") == 2 + 1);
}

TEST_CASE("concat: a further step of the same case has its inputs already", "[unit]")
{
    const Ran ran = run_steps({repeat(3, {concat("size_100", 0, 2)}), concat("size_1000", 0, 1), sample("end")});
    CHECK(ran.attempt.steps().record.arrays == (2 + 3 * 2) + (2 + 1));
    CHECK(ran.live_bytes() == std::vector<std::uint64_t>{800 + input_bytes});
    CHECK(ran.attempt.steps().record.calls == 7);
    CHECK(ran.attempt.steps().record.results_checked == 4);
    CHECK(ran.metric("checksum_ok") == 1);
}

TEST_CASE("concat: the array that results are written to can be named, and lives on when the name is dropped", "[unit]")
{
    const Ran ran = run_steps({concat("out_mixed_to_float64", 1, 2, "out"), sample("called"), read("out"), drop("out"),
                               sample("dropped"), concat("out_mixed_to_float64", 0, 1, "out")});
    REQUIRE(ran.attempt.ending == engine::Ending::finished);
    CHECK(ran.live_bytes() == std::vector<std::uint64_t>{24'000'000, 24'000'000});
    CHECK(ran.metric("allocations") == 3);
    CHECK(ran.metric("checksum_ok") == 1);
    CHECK(ran.attempt.steps().record.array_counts.reads == 1);
}

TEST_CASE("concat: an allocation refused ends the repetition and is told", "[unit]")
{
    model::MemorySpec memory;
    memory.limit_bytes = input_bytes + result_bytes;
    CHECK(run_steps({concat("size_1000", 1, 1)}, {}, memory).attempt.ending == engine::Ending::finished);
    const engine::Attempt refused = run_steps({concat("size_1000", 1, 1)}, {.mode = ReleaseMode::leak}, memory).attempt;
    CHECK(refused.ending == engine::Ending::refused);
    CHECK_THAT(refused.reason, Catch::Contains("7.81 KiB was refused with 15.6 KiB live, after 3 arrays"));
    memory.limit_bytes = input_bytes - 1;
    CHECK(run_steps({concat("size_1000", 1, 1)}, {}, memory).attempt.ending == engine::Ending::refused);
}

TEST_CASE("concat: a repetition cannot time more calls than are kept", "[unit]")
{
    model::Case one;
    one.work = model::Steps{repeat(engine::max_timed_calls, {concat("size_100", 0, 2)})};
    const auto program = engine::compile(one);
    REQUIRE(!program);
    CHECK_THAT(program.error().message, Catch::Contains("2000000 calls"));
}

TEST_CASE("concat: faults per call are the pages of the result where each is mapped anew", "[machine]")
{
    model::Case one;
    one.id = "faults";
    one.memory = {.resource = model::ResourceKind::pages, .pages = model::PageKind::small};
    one.work = model::Steps{concat("prom_int32_float64", 2, 10)};
    const auto program = engine::compile(one);
    REQUIRE(program);
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    engine::InProcessExecutor executor{{clock, *probe}};
    const engine::Attempt attempt = executor.run(*program, {}, [](int /*pid*/) {});
    REQUIRE(attempt.ending == engine::Ending::finished);
    CHECK(attempt.steps().record.calls == 10);
    const std::uint64_t pages = (16'000'000 + sys::page_size() - 1) / sys::page_size();
    CHECK(attempt.steps().record.call_minor_faults >= 10 * pages);
    CHECK((tests::sanitized || attempt.steps().record.call_minor_faults <= 10 * pages + pages / 10));
    CHECK(attempt.steps().record.results_wrong == 0);
}
