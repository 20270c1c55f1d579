#include "core/measure/machine_drift.hpp"

#include <string>
#include <vector>

#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

struct PaceFactors {
    double compute{1};
    double copy{1};
    double fault{1};
};

model::RunReport paced(const model::Metric& metric, const PaceFactors& pace, std::size_t rounds = 10)
{
    model::RunReport made;
    made.run.scenario_name = "demo";
    made.cases = {case_report({}, {metric})};
    const auto times = [&](double factor) {
        std::vector<double> all = scaled(ten, factor * 1e-3);
        all.resize(rounds);
        return all;
    };
    made.calibration.rounds = {{times(pace.compute), times(pace.copy), times(pace.fault)}};
    return made;
}

struct DriftSeen {
    Verdict verdict{};
    std::string why;
    bool said{};  // among the findings
};

DriftSeen drift_seen(const model::RunReport& base, const model::RunReport& candidate)
{
    const Comparison comparison = *measure::compare_reports(base, candidate, {});
    REQUIRE(comparison.metrics.size() == 1);
    const MetricComparison& metric = comparison.metrics.front();
    const bool said = std::ranges::any_of(
        comparison.findings, [](const Finding& one) { return one.text.find("slower under") != std::string::npos; });
    return {metric.verdict, metric.why, said};
}

model::Metric timed(double factor)
{
    return metric("wall_time", scaled(ten, factor));
}

}  // namespace

TEST_CASE("a slower machine is said to be slower, whichever side it hit", "[unit]")
{
    const DriftSeen worse = drift_seen(paced(timed(1), {}), paced(timed(1.12), {.copy = 1.12}));
    CHECK(worse.verdict == Verdict::inconclusive);
    CHECK(worse.said);
    CHECK_THAT(worse.why, Contains("the machine was 12.0 % slower under the candidate (a copy of 4 MiB took"));
    CHECK_THAT(worse.why, Contains("without that 0.0 % is left, within the 5 % allowed"));
    const DriftSeen better = drift_seen(paced(timed(1.3), {.fault = 1.3}), paced(timed(1), {}));
    CHECK(better.verdict == Verdict::inconclusive);
    CHECK_THAT(better.why, Contains("30.0 % slower under the base (the first touch of 1 MiB"));
}

TEST_CASE("what the machine's own change leaves unexplained is the case's", "[unit]")
{
    CHECK(drift_seen(paced(timed(1), {}), paced(timed(1.3), {.compute = 1.1})).verdict == Verdict::regressed);
    CHECK(drift_seen(paced(timed(1), {}), paced(timed(1.16), {.compute = 1.12})).verdict == Verdict::inconclusive);
    CHECK(drift_seen(paced(timed(1), {}), paced(timed(1.12), {.compute = 0.88})).verdict == Verdict::regressed);
    CHECK(drift_seen(paced(timed(1), {}), paced(timed(1.12), {})).verdict == Verdict::regressed);
    CHECK(drift_seen(paced(timed(1), {}), paced(timed(1.12), {.compute = 1.12}, 4)).verdict == Verdict::regressed);
    CHECK(drift_seen(paced(timed(1.12), {}), paced(timed(1), {})).verdict == Verdict::improved);
}

TEST_CASE("a throughput falls where times rise", "[unit]")
{
    model::Metric fast = metric("bandwidth", ten);
    REQUIRE(fast.better == model::Better::higher);
    model::Metric slow = metric("bandwidth", scaled(ten, 1 / 1.15));
    CHECK(drift_seen(paced(fast, {}), paced(slow, {.copy = 1.15})).verdict == Verdict::inconclusive);
    CHECK(drift_seen(paced(fast, {}), paced(slow, {.copy = 1 / 1.15})).verdict == Verdict::regressed);
}

TEST_CASE("exact counts and sizes are never excused", "[unit]")
{
    const PaceFactors slower{.compute = 2, .copy = 2, .fault = 2};
    CHECK(drift_seen(paced(metric("allocations", {4}), {}), paced(metric("allocations", {5}), slower)).verdict ==
          Verdict::regressed);
    const std::vector<double> sizes = scaled(ten, 1e8);
    CHECK(drift_seen(paced(metric("working_set_peak", sizes), {}),
                     paced(metric("working_set_peak", scaled(sizes, 1.5)), slower))
              .verdict == Verdict::regressed);
}

TEST_CASE("a drift is what its interval shows, of enough rounds", "[unit]")
{
    const std::vector<double> noisy{1.0, 1.3, 0.9, 1.2, 1.1, 0.8, 1.25};
    const model::MachineRounds base{ten, noisy, {1, 1}};
    const model::MachineRounds later{scaled(ten, 1.01), scaled(noisy, 1.03), {2, 2}};
    CHECK(machine_drifts(base, later).empty());
    CHECK(machine_drifts(base, {scaled(ten, 1.2), {}, {}}).size() == 1);
    CHECK(machine_drifts(base, {{0, 0, 0, 0, 0, 0}, {}, {}}).empty());
    CHECK(machine_drifts({}, {}).empty());
}

TEST_CASE("what faults for a tenth of its time takes part in a tenth of a fault's drift", "[unit]")
{
    const MachineDrift touch{FixedWork::first_touch, "the first touch of 1 MiB",
                             Shift{.is_ratio = true, .estimate = 1.5}, 1, 1.5};
    const MachineDrift copy{FixedWork::copy, "a copy of 4 MiB", Shift{.is_ratio = true, .estimate = 1.2}, 1, 1.2};
    const MachineDrift release{FixedWork::release, "the return of 8 MiB", Shift{.is_ratio = true, .estimate = 2}, 1, 2};
    const model::CaseReport slower =
        case_report({}, {metric("wall_time", ten), metric("fault_time", scaled(ten, 0.1))});
    const auto own = drifts_of_case({touch, copy, release}, slower, "wall_time");
    CHECK(own[0].ratio.estimate == Catch::Detail::Approx(1.05));
    CHECK(own[1].ratio.estimate == 1.2);
    CHECK(own[2].ratio.estimate == 2);  // how long it was in the allocator is not known
    CHECK(drifts_of_case({touch}, slower, "drain_time").front().ratio.estimate == 1.5);
    CHECK(drifts_of_case({touch}, case_report({}, {}), "wall_time").front().ratio.estimate == 1.5);
    const model::CaseReport hardly =
        case_report({}, {metric("wall_time", ten), metric("fault_time", scaled(ten, 0.01))});
    CHECK(drifts_of_case({touch}, hardly, "wall_time").empty());
}
