#include "core/measure/separate_runs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

struct RunOfCase {
    std::vector<double> wall;
    std::vector<double> delay;
    std::vector<model::Metric> others{};
};

model::RunReport run_of(const RunOfCase& run)
{
    std::vector<model::Metric> metrics = run.others;
    metrics.push_back(metric("wall_time", run.wall));
    metrics.push_back(metric("run_delay_time", run.delay));
    model::RunReport report;
    report.run.scenario_name = "demo";
    report.cases = {case_report({}, std::move(metrics))};
    return report;
}

MetricComparison judged(const model::RunReport& base, const model::RunReport& candidate,
                        std::string_view name = "wall_time")
{
    const Comparison comparison = *compare_reports(base, candidate, {});
    return *std::ranges::find(comparison.metrics, name, &MetricComparison::metric);
}

const std::vector<double> no_delay(10, 0.0);

// Every second repetition waited, and took the longer for it.
RunOfCase half_disturbed(double factor)
{
    RunOfCase run{scaled(ten, factor), no_delay};
    for (std::size_t i = 0; i < run.wall.size(); i += 2) {
        run.delay[i] = 0.6;
        run.wall[i] += 0.7;
    }
    return run;
}

model::CaseReport case_of(const RunOfCase& run)
{
    return run_of(run).cases.front();
}

}  // namespace

TEST_CASE("repetitions that other work disturbed do not count between two runs", "[unit]")
{
    const model::RunReport quiet = run_of({ten, no_delay});
    const MetricComparison same = judged(quiet, run_of(half_disturbed(1)));
    CHECK(same.verdict == Verdict::same);
    CHECK(same.candidate_n == 5);
    const MetricComparison slower = judged(quiet, run_of(half_disturbed(1.1)));
    CHECK(slower.verdict == Verdict::regressed);
    CHECK(judged(run_of(half_disturbed(1.1)), quiet).verdict == Verdict::improved);
}

TEST_CASE("a case that waits in its best repetition too is measured against that", "[unit]")
{
    const std::vector<double> own_waiting = scaled(ten, 0.3);
    const RunOfCase base{ten, own_waiting};
    const RunOfCase candidate{scaled(ten, 1.2), scaled(own_waiting, 1.2)};
    CHECK(judged(run_of(base), run_of(candidate)).verdict == Verdict::regressed);
    const model::CaseReport from = case_of(base);
    const model::CaseReport to = case_of(candidate);
    const UndisturbedValues values =
        undisturbed_values({&from, &to}, *model::find_metric(from, "wall_time"), *model::find_metric(to, "wall_time"));
    CHECK(values.base.size() == 10);
    CHECK(values.candidate_disturbed == 0);
    CHECK_FALSE(too_disturbed(values, 11));  // there were never more
}

TEST_CASE("too few undisturbed repetitions tell nothing of a time that includes waiting", "[unit]")
{
    RunOfCase busy{scaled(ten, 2), std::vector<double>(10, 0.8)};
    const MetricComparison found = judged(run_of({ten, no_delay}), run_of(busy));
    CHECK(found.verdict == Verdict::inconclusive);
    CHECK(found.busier_machine);
    CHECK_THAT(reporters::reason_text(found.reason),
               Contains("the machine was busy: in 10 of 10 repetitions of the candidate"));
    RunOfCase slow{scaled(ten, 3), std::vector<double>(10, 0.8)};
    CHECK(judged(run_of({ten, no_delay}), run_of(slow)).verdict == Verdict::regressed);
    const std::vector cpu{metric("cpu_time", ten)};
    busy.others = {metric("cpu_time", scaled(ten, 1.5))};  // more than cold caches make of it
    CHECK(judged(run_of({ten, no_delay, cpu}), run_of(busy), "cpu_time").verdict == Verdict::regressed);
}

TEST_CASE("a change shows in the fastest repetition too", "[unit]")
{
    std::vector<double> wide = scaled(ten, 1.3);
    wide[3] = 1.04;  // once the machine was as fast as before
    const MetricComparison found = judged(run_of({ten, no_delay}), run_of({wide, no_delay}));
    CHECK(found.verdict == Verdict::inconclusive);
    CHECK_THAT(reporters::reason_text(found.reason),
               Contains("the candidate's fastest repetition, 1.04 s, is not beyond the 5 % allowed above the base's "
                        "median of 1.00 s"));
    CHECK(judged(run_of({wide, no_delay}), run_of({ten, no_delay})).verdict == Verdict::inconclusive);
    CHECK(judged(run_of({ten, no_delay}), run_of({scaled(ten, 1.1), no_delay})).verdict == Verdict::regressed);
}

TEST_CASE("of a rate the highest is the fastest", "[unit]")
{
    const auto rates = [](std::vector<double> values) {
        return run_of({ten, no_delay, {metric("bandwidth", values)}});
    };
    std::vector<double> slow = scaled(ten, 0.8);
    CHECK(judged(rates(ten), rates(slow), "bandwidth").verdict == Verdict::regressed);
    slow[5] = 0.99;
    CHECK(judged(rates(ten), rates(slow), "bandwidth").verdict == Verdict::inconclusive);
}

TEST_CASE("latencies follow how threads take turns", "[unit]")
{
    const auto paused = [](double seconds, double delay) {
        return run_of({ten, std::vector<double>(10, delay), {metric("gc_pause_max", scaled(ten, seconds))}});
    };
    const MetricComparison busier = judged(paused(40e-6, 0.0001), paused(3e-3, 0.01), "gc_pause_max");
    CHECK(busier.verdict == Verdict::inconclusive);
    CHECK_THAT(reporters::reason_text(busier.reason), Contains("such a time follows how threads take turns"));
    CHECK(judged(paused(3e-3, 0.0001), paused(40e-6, 0.01), "gc_pause_max").verdict == Verdict::inconclusive);
    CHECK(judged(paused(40e-6, 0.0001), paused(3e-3, 0.0001), "gc_pause_max").verdict == Verdict::regressed);
    CHECK(judged(paused(40e-3, 0.0001), paused(80e-3, 0.01), "gc_pause_max").verdict == Verdict::regressed);
    CHECK(judged(paused(40e-6, 0.0001), paused(80e-6, 0.05), "gc_pause_max").verdict == Verdict::inconclusive);
}

TEST_CASE("taking other turns explains a little of the whole time, not any slowdown", "[unit]")
{
    const auto finalized = [](double factor, double delay) {
        return run_of({scaled(ten, factor),
                       std::vector<double>(10, delay),
                       {metric("cpu_time", scaled(ten, factor)), metric("finalizers_registered", {300, 300, 300})}});
    };
    CHECK(judged(finalized(1, 0), finalized(1.2, 0.04), "cpu_time").verdict == Verdict::inconclusive);
    CHECK(judged(finalized(1.2, 0), finalized(1, 0.04), "cpu_time").verdict == Verdict::inconclusive);
    CHECK(judged(finalized(1, 0), finalized(2, 0.06), "cpu_time").verdict == Verdict::regressed);
    CHECK(judged(finalized(1, 0.003), finalized(10, 0.03), "cpu_time").verdict == Verdict::regressed);
}

TEST_CASE("the more repetitions, the less one of them decides", "[unit]")
{
    std::vector<double> usual(30, 1.0);
    std::vector<double> slow(30, 1.3);
    for (std::size_t i = 0; i < usual.size(); ++i) {
        usual[i] += 0.001 * static_cast<double>(i % 7);
        slow[i] += 0.001 * static_cast<double>(i % 5);
    }
    slow[7] = 1.0;
    const std::vector<double> none(30, 0.0);
    CHECK(judged(run_of({usual, none}), run_of({slow, none})).verdict == Verdict::regressed);
}

TEST_CASE("where too few undisturbed repetitions are left for so many metrics, all are judged", "[unit]")
{
    RunOfCase base{ten, no_delay};
    RunOfCase busy = half_disturbed(3);
    for (int i = 0; i < 100; ++i) {
        base.others.push_back(metric("noise_" + std::to_string(i), ten));
        busy.others.push_back(metric("noise_" + std::to_string(i), ten));
    }
    const MetricComparison found = judged(run_of(base), run_of(busy));
    CHECK(found.candidate_n == 10);
    CHECK(found.verdict == Verdict::regressed);
}

TEST_CASE("sizes and counts are what they are, however busy the machine", "[unit]")
{
    const auto sized = [](double bytes, double delay) {
        return run_of({ten, std::vector<double>(10, delay), {metric("working_set_peak", scaled(ten, bytes))}});
    };
    const MetricComparison found = judged(sized(1e8, 0), sized(1.5e8, 0.9), "working_set_peak");
    CHECK(found.verdict == Verdict::regressed);
    CHECK(found.candidate_n == 10);
}

TEST_CASE("half of what a case waited longer may be in its processor time", "[unit]")
{
    const auto run = [](double cpu, double waited) {
        const RunOfCase one{scaled(ten, cpu + waited), scaled(ten, waited), {metric("cpu_time", scaled(ten, cpu))}};
        return run_of(one);
    };
    const MetricComparison busy = judged(run(1, 0), run(1.3, 0.7), "cpu_time");
    CHECK(busy.verdict == Verdict::inconclusive);
    CHECK_THAT(reporters::reason_text(busy.reason),
               Contains("busier under the candidate: the case waited 700.3 ms longer for a processor"));
    CHECK(judged(run(1.3, 0.7), run(1, 0), "cpu_time").verdict == Verdict::inconclusive);
    CHECK(judged(run(1, 0), run(1.3, 0.3), "cpu_time").verdict == Verdict::regressed);
    CHECK(judged(run(1, 0.7), run(1.3, 0), "cpu_time").verdict == Verdict::regressed);
}
