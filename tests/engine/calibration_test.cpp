#include "core/engine/calibration.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/support/fake_executor.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

model::Plan plan_of_programs()
{
    model::Plan plan;
    plan.cases.emplace_back().work = model::CommandSpec{.run = {"true"}};
    return plan;
}

struct CalibrationBench {
    model::Calibration calibrate(const model::Plan& plan)
    {
        model::Calibration calibration;
        engine::calibrate_harness(plan, executor, clock, calibration);
        return calibration;
    }

    tests::FakeClock clock;
    tests::FakeExecutor executor;
};

}  // namespace

TEST_CASE("calibration: of programs the start of one is measured, inside of its time and beside it", "[unit]")
{
    CalibrationBench bench;
    bench.executor.wall_ns = 400;
    bench.clock.tick = 1us;
    const model::Calibration calibration = bench.calibrate(plan_of_programs());
    REQUIRE((calibration.harness_seconds_per_run && calibration.harness_seconds_beside_run));
    CHECK(*calibration.harness_seconds_per_run == Approx(400e-9));
    CHECK(*calibration.harness_seconds_beside_run == Approx(600e-9));  // a tick is all that a run takes
    CHECK(*calibration.clock_read_seconds == Approx(1e-6));
    CHECK_FALSE(calibration.harness_seconds_per_op);
    CHECK(bench.executor.runs == 11);
}

TEST_CASE("calibration: the start of a program is priced by the least of the runs, whatever disturbs the others",
          "[unit]")
{
    CalibrationBench bench;
    bench.executor.wall_ns = 11'000'000;
    bench.executor.scripted = {{.wall_ns = 11'100'000}, {.wall_ns = 640'000}, {.wall_ns = 9'000'000}};
    CHECK(*bench.calibrate(plan_of_programs()).harness_seconds_per_run == Approx(640e-6));
}

TEST_CASE("calibration: a repetition takes no less than its own time", "[unit]")
{
    CalibrationBench bench;
    bench.executor.wall_ns = 1'000'000;
    bench.clock.tick = 1us;
    CHECK(bench.calibrate(plan_of_programs()).harness_seconds_beside_run == 0.0);
}

TEST_CASE("calibration: where starting takes long one run is enough", "[unit]")
{
    CalibrationBench bench;
    bench.clock.tick = 20ms;
    CHECK(bench.calibrate(plan_of_programs()).harness_seconds_per_run);
    CHECK(bench.executor.runs == 1);
}

TEST_CASE("calibration: what could not be run has no figures", "[unit]")
{
    for (const engine::Ending ending : {engine::Ending::crashed, engine::Ending::broken, engine::Ending::interrupted}) {
        CalibrationBench bench;
        bench.executor.scripted = {{}, {.ending = ending, .reason = "why"}};
        const model::Calibration calibration = bench.calibrate(plan_of_programs());
        CHECK_FALSE(calibration.harness_seconds_per_run);
        CHECK_FALSE(calibration.harness_seconds_beside_run);
        CHECK(bench.executor.runs == 2);
    }
}

TEST_CASE("calibration: of steps an operation is measured, and no program", "[unit]")
{
    CalibrationBench bench;
    model::Plan plan;
    plan.cases.emplace_back();
    model::Calibration calibration = bench.calibrate(plan);
    CHECK(calibration.harness_seconds_per_op);
    CHECK_FALSE(calibration.harness_seconds_per_op_uncounted);
    CHECK_FALSE(calibration.harness_seconds_per_run);
    CHECK_FALSE(calibration.harness_seconds_beside_run);
    CHECK(bench.executor.runs == 5);  // in turns with the bare calls

    plan.cases.front().memory.accounting = model::Accounting::off;
    calibration = bench.calibrate(plan);
    CHECK(calibration.harness_seconds_per_op_uncounted);
}
