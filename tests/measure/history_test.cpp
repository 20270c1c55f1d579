#include "core/measure/history.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/change_points.hpp"
#include "core/measure/summary.hpp"
#include "reporters/wording/history_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

// The medians of runs, noise and all, on one level after the other: {runs, level}.
std::vector<double> levels(base::Rng& rng, double noise, std::initializer_list<std::pair<std::size_t, double>> parts)
{
    std::vector<double> values;
    for (const auto& [runs, level] : parts) {
        const std::vector<double> part = noisy_sample(rng, runs, level, noise);
        values.insert(values.end(), part.begin(), part.end());
    }
    return values;
}

model::RunReport run_of(std::size_t number, std::vector<model::Metric> metrics)
{
    model::RunReport report;
    report.run.id = fmt::format("run-{}", number);
    report.run.started = fmt::format("2026-01-{:02}T12:00:00.000Z", number + 1);
    report.run.scenario_name = "demo";
    report.run.scenario_fingerprint = "steps";
    report.run.interrupted = false;
    report.machine.fingerprint = "machine";
    for (model::Metric& metric : metrics) {
        metric.summary = summarize(metric.values);
    }
    report.cases.push_back(case_report({{"mode", "refcount"}}, std::move(metrics)));
    return report;
}

History only_history(const std::vector<model::RunReport>& reports, const Criteria& criteria = {})
{
    HistoryBuilder builder;
    for (const model::RunReport& report : reports) {
        builder.add(report.run.id + ".json", report);
    }
    Histories found = builder.finish(criteria);
    REQUIRE(found.histories.size() == 1);
    CHECK(found.left_out.empty());
    return std::move(found.histories.front());
}

const Trend& trend(const History& history, std::string_view metric)
{
    const auto found = std::ranges::find(history.trends, metric, &Trend::metric);
    REQUIRE(found != history.trends.end());
    return *found;
}

}  // namespace

TEST_CASE("sequences on one level rarely look cut", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    CutFinder finder;
    int cut = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const auto values = noisy_sample(rng, 8 + rng.below(40), 1, 0.03);
        cut += finder.best_cut(values)->p <= 0.05 ? 1 : 0;
    }
    CHECK(cut <= 50);
}

TEST_CASE("a level that changes by three times the noise is found in its place", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    CutFinder finder;
    int found = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const auto cuts = finder.cuts(levels(rng, 0.03, {{20, 1}, {10, 1.1}}), 0.01);
        found += cuts.size() == 1 && cuts[0].at >= 19 && cuts[0].at <= 21 ? 1 : 0;
    }
    CHECK(found >= 180);
}

TEST_CASE("a rise that is taken back, and stairs, are found at both their ends", "[unit]")
{
    base::Rng rng{7};
    CutFinder finder;
    for (const double last : {1.0, 1.21}) {
        const auto cuts = finder.cuts(levels(rng, 0.005, {{12, 1}, {12, 1.1}, {12, last}}), 0.01);
        REQUIRE(cuts.size() == 2);
        CHECK(cuts[0].at == 12);
        CHECK(cuts[1].at == 24);
    }
}

TEST_CASE("too few values have no cut, and ties make none surer than arrangements allow", "[unit]")
{
    CutFinder finder;
    CHECK_FALSE(finder.best_cut(std::vector<double>(7, 1.0)));
    CHECK(finder.best_cut(std::vector<double>(8, 1.0))->p == 1);
    const auto cut = finder.best_cut(std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2});
    CHECK(cut->at == 4);
    CHECK(cut->p >= 2.0 / 70);
}

TEST_CASE("a history shows what changed and since which run, in whatever order its results come", "[unit]")
{
    base::Rng rng{3};
    const auto times = levels(rng, 0.01, {{10, 1}, {10, 1.2}});
    const auto faults = levels(rng, 0.001, {{20, 1000}});
    std::vector<model::RunReport> reports;
    for (std::size_t run = 0; run < 20; ++run) {
        reports.push_back(run_of(run, {metric("wall_time", {times[run]}), metric("minor_faults", {faults[run]}),
                                       metric("allocations", {run < 15 ? 100.0 : 99.0})}));
    }
    std::ranges::reverse(reports);
    std::swap(reports[3], reports[11]);
    const History history = only_history(reports);
    REQUIRE(history.runs.size() == 20);
    CHECK(history.runs.front().id == "run-0");
    CHECK(history.judged == 2);

    const Trend& time = trend(history, "wall_time");
    REQUIRE(time.changes.size() == 1);
    CHECK(time.changes[0].run == 10);
    CHECK(time.changes[0].verdict == Verdict::regressed);
    CHECK(time.changes[0].q <= significance);
    CHECK(time.changes[0].shift.estimate > 1.15);
    CHECK(trend(history, "minor_faults").changes.empty());

    const Trend& count = trend(history, "allocations");
    REQUIRE(count.changes.size() == 1);
    CHECK(count.changes[0].run == 15);
    CHECK(count.changes[0].verdict == Verdict::improved);

    REQUIRE(history.findings.size() == 2);
    CHECK(sentence(history.findings[0]).starts_with("demo/mode=refcount: wall_time regressed 1.2"));
    CHECK(sentence(history.findings[0]).ends_with("from run 11 of 20, 2026-01-11T12:00:00.000Z on (run-10.json)"));
    CHECK(sentence(history.findings[1]).find("allocations improved 99 instead of 100") != std::string::npos);
}

TEST_CASE("histories of runs that only scatter show no change", "[unit]")
{
    const std::uint64_t seed = Catch::rngSeed();
    CAPTURE(seed);
    base::Rng rng{seed};
    std::size_t changed = 0;
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<model::RunReport> reports;
        for (std::size_t run = 0; run < 20; ++run) {
            std::vector<model::Metric> metrics;
            for (int i = 0; i < 15; ++i) {
                metrics.push_back(metric(fmt::format("time_{}", i), noisy_sample(rng, 1, 1, 0.05)));
            }
            reports.push_back(run_of(run, std::move(metrics)));
        }
        const History history = only_history(reports);
        CHECK(history.judged == 15);
        changed += history.findings.empty() ? 0U : 1U;
    }
    // About 2 of 100 are expected; 15 metrics that were judged one by one at 5 % would make it 54.
    CHECK(changed <= 12);
}

TEST_CASE("a level within the threshold is no change", "[unit]")
{
    base::Rng rng{3};
    const auto times = levels(rng, 0.001, {{10, 1}, {10, 1.03}});
    std::vector<model::RunReport> reports;
    for (std::size_t run = 0; run < 20; ++run) {
        reports.push_back(run_of(run, {metric("wall_time", {times[run]})}));
    }
    CHECK(only_history(reports).findings.empty());
    Criteria strict;
    strict.thresholds["wall_time"] = {0.01, 0};
    CHECK(only_history(reports, strict).findings.size() == 1);
}

TEST_CASE("runs of other scenarios and machines are other histories, and a run is reported once", "[unit]")
{
    HistoryBuilder builder;
    for (std::size_t run = 0; run < 3; ++run) {
        builder.add(fmt::format("{}.json", run), run_of(run, {metric("wall_time", {1})}));
    }
    builder.add("again.json", run_of(1, {metric("wall_time", {1})}));
    model::RunReport other = run_of(7, {metric("wall_time", {1})});
    other.machine.fingerprint = "another";
    builder.add("other.json", other);
    const Histories found = builder.finish({});
    REQUIRE(found.histories.size() == 1);
    CHECK(found.histories[0].runs.size() == 3);
    REQUIRE(found.left_out.size() == 2);
    CHECK(reporters::left_out_text(found.left_out[0]) == "again.json: the run of 1.json again");
    CHECK(reporters::left_out_text(found.left_out[1]) ==
          "other.json: the only run of demo with this scenario on this machine");
    CHECK(trend(found.histories[0], "wall_time").too_few_runs == 3);
    CHECK(reporters::too_few_text(trend(found.histories[0], "wall_time")) ==
          "3 runs measured it; 8 are needed to show a change");
    CHECK(found.histories[0].findings.front().importance == Importance::warning);
}

TEST_CASE("a run without a value leaves a gap, and its neighbours are judged", "[unit]")
{
    std::vector<model::RunReport> reports;
    for (std::size_t run = 0; run < 6; ++run) {
        reports.push_back(run_of(run, {metric("allocations", {run < 4 ? 1.0 : 2.0})}));
    }
    reports[4].cases[0].status = model::Status::error;
    const History history = only_history(reports);
    const Trend& count = trend(history, "allocations");
    CHECK_FALSE(count.points[4]);
    REQUIRE(count.changes.size() == 1);
    CHECK(count.changes[0].run == 5);
}

TEST_CASE("a history forgives a few bytes, and not many steps of a few", "[unit]")
{
    const auto changes_of = [](const std::vector<double>& bytes) {
        std::vector<model::RunReport> reports;
        for (std::size_t run = 0; run < bytes.size(); ++run) {
            reports.push_back(run_of(run, {metric("allocated_bytes", {bytes[run]})}));
        }
        return trend(only_history(reports), "allocated_bytes").changes.size();
    };
    CHECK(changes_of({1e6, 1e6 + 8, 1e6, 1e6 + 900}) == 0);
    CHECK(changes_of({1e6, 1e6 + 600, 1e6 + 1200, 1e6 + 1800, 1e6 + 2400, 1e6 + 3000}) == 2);
}

TEST_CASE("a history shows what only explains, and judges it not", "[unit]")
{
    std::vector<model::RunReport> reports;
    for (std::size_t run = 0; run < 20; ++run) {
        const double often = (run < 10 ? 1 : 3) * (1000 + static_cast<double>(run % 3));
        reports.push_back(run_of(run, {metric("context_switches", {often}), metric("minor_faults", {often})}));
    }
    const History history = only_history(reports);
    REQUIRE(trend(history, "context_switches").changes.size() == 1);
    CHECK(trend(history, "context_switches").changes.front().verdict == Verdict::informational);
    CHECK(trend(history, "minor_faults").changes.front().verdict == Verdict::regressed);
}
