#include "core/measure/machine_drift.hpp"

#include <string>
#include <vector>

#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

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
    const bool said = std::ranges::any_of(comparison.findings, [](const Finding& one) {
        return sentence(one).find("slower under") != std::string::npos;
    });
    return {metric.verdict, reporters::reason_text(metric.reason), said};
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
    const MachineDrift touch{TimedWork::first_touch, Shift{.is_ratio = true, .estimate = 1.5}, 1, 1.5};
    const MachineDrift copy{TimedWork::copy, Shift{.is_ratio = true, .estimate = 1.2}, 1, 1.2};
    const MachineDrift release{TimedWork::release, Shift{.is_ratio = true, .estimate = 2}, 1, 2};
    const model::CaseReport slower =
        case_report({}, {metric("wall_time", ten), metric("fault_time", scaled(ten, 0.1))});
    const auto own = drifts_of_case({touch, copy, release}, {&slower, &slower}, "wall_time");
    CHECK(own[0].ratio.estimate == Approx(1.05));
    CHECK(own[1].ratio.estimate == 1.2);
    CHECK(own[2].ratio.estimate == 2);  // how long it was in the allocator is not known
    CHECK(drifts_of_case({touch}, {&slower, &slower}, "drain_time").front().ratio.estimate == 1.5);
    const model::CaseReport unknown = case_report({}, {});
    CHECK(drifts_of_case({touch}, {&unknown, &unknown}, "wall_time").front().ratio.estimate == 1.5);
    const model::CaseReport hardly =
        case_report({}, {metric("wall_time", ten), metric("fault_time", scaled(ten, 0.01))});
    CHECK(drifts_of_case({touch}, {&hardly, &hardly}, "wall_time").empty());
}

TEST_CASE("faults of a case that the kernel took longer for are the machine's doing", "[unit]")
{
    struct Faulting {
        double faults{};
        double each{};
    };
    const auto run = [](const Faulting& faulting, double other) {
        const std::vector<double> kernel = scaled(ten, faulting.faults * faulting.each);
        std::vector<double> whole = kernel;
        std::ranges::transform(whole, ten, whole.begin(), [&](double part, double one) { return part + one * other; });
        return case_report({}, {metric("wall_time", whole), metric("cpu_time", whole), metric("kernel_time", kernel),
                                metric("minor_faults", std::vector<double>(10, faulting.faults))});
    };
    const auto verdict = [&](const Faulting& before, const Faulting& after, double other) {
        model::RunReport base, candidate;
        base.cases = {run(before, 0.5)};
        candidate.cases = {run(after, other)};
        base.run.scenario_name = candidate.run.scenario_name = "demo";
        const Comparison comparison = *measure::compare_reports(base, candidate, {});
        const auto wall = std::ranges::find(comparison.metrics, "wall_time", &MetricComparison::metric);
        return std::pair{wall->verdict, reporters::reason_text(wall->reason)};
    };
    const Faulting warm{5e5, 2e-6}, cold{5e5, 3e-6};
    const auto [dearer, why] = verdict(warm, cold, 0.5);
    CHECK(dearer == Verdict::inconclusive);
    CHECK_THAT(why, Contains("33.3 % slower under the candidate (the kernel's part of the case, for each page fault, "
                             "took 3.00 us, under the base 2.00 us, and such work is 66.7 % of the case)"));
    CHECK(verdict(cold, warm, 0.5).first == Verdict::inconclusive);
    CHECK(verdict(warm, cold, 0.8).first == Verdict::regressed);               // more than its faults cost
    CHECK(verdict(warm, {5e5, 2e-6}, 0.8).first == Verdict::regressed);        // they cost as much
    CHECK(verdict(warm, {6e5, 2e-6}, 0.5).first == Verdict::regressed);        // more of them
    CHECK(verdict(warm, {1e3, 2e-3}, 0.5 + 0.3).first == Verdict::regressed);  // few, of huge pages
}
