#include "core/measure/comparison.hpp"

#include <algorithm>

#include "reporters/wording/reason_words.hpp"
#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::Status;

namespace {

MetricComparison compare_one(const model::Metric& base, const model::Metric& candidate,
                             const Thresholds& thresholds = {})
{
    const model::CaseReport from = case_report({}, {base});
    const model::CaseReport to = case_report({}, {candidate});
    const auto results =
        compare_cases(std::vector{CasePair{&from, &to}}, {.thresholds = thresholds, .only = {}, .informational = {}});
    REQUIRE(results.size() == 1);
    return results[0];
}

MetricComparison compare_one(const char* name, const std::vector<double>& base, const std::vector<double>& candidate,
                             const Thresholds& thresholds = {})
{
    return compare_one(metric(name, base), metric(name, candidate), thresholds);
}

model::CaseReport sampled(double live, double working_set)
{
    model::CaseReport report = case_report({}, {metric("wall_time", {1, 1, 1, 1, 1})});
    for (std::uint32_t repetition = 0; repetition < 5; ++repetition) {
        model::Point after = point(repetition, "after_drop");
        after.live_bytes = live;
        after.working_set = working_set + repetition * 4096.0;
        report.points.push_back(after);
        report.points.push_back(point(repetition, "end"));  // where nothing was measured
    }
    return report;
}

MetricComparison compare_states(Status base, Status candidate)
{
    const model::CaseReport from = case_report({}, {metric("wall_time", {1})}, base);
    const model::CaseReport to = case_report({}, {metric("wall_time", {1})}, candidate);
    const auto results = compare_cases(std::vector{CasePair{&from, &to}}, {});
    REQUIRE(results.size() == 1);
    CHECK(results[0].metric.empty());
    return results[0];
}

}  // namespace

TEST_CASE("what varies on one side only is compared as what varies", "[unit]")
{
    model::Metric exact = metric("live_bytes_peak", {8e6, 8e6, 8e6, 8e6, 8e6, 8e6});
    model::Metric varying = metric("live_bytes_peak", {80e6, 88e6, 80e6, 96e6, 80e6, 80e6});
    exact.metric_class = model::MetricClass::exact;
    varying.metric_class = model::MetricClass::noisy;
    const auto grown = compare_one(exact, varying);
    CHECK(grown.verdict == Verdict::regressed);
    CHECK(grown.metric_class == model::MetricClass::noisy);
    const auto shrunk = compare_one(varying, exact);
    CHECK(shrunk.verdict == Verdict::improved);
    CHECK(shrunk.metric_class == model::MetricClass::noisy);
}

TEST_CASE("an exact counter that did not repeat is compared as what varies", "[unit]")
{
    const auto counts = [](std::initializer_list<double> values) {
        model::Metric allocations = metric("allocations", values);
        allocations.metric_class = model::MetricClass::exact;
        return allocations;
    };
    const auto scattered = compare_one(counts({1152, 1152, 1153, 1152, 1153, 1152, 1152, 1152}),
                                       counts({1153, 1152, 1153, 1152, 1153, 1153, 1152, 1153}));
    CHECK(scattered.verdict == Verdict::same);
    CHECK(scattered.metric_class == model::MetricClass::noisy);
    const auto changed = compare_one(counts({1152, 1152, 1152, 1152, 1152, 1152, 1152, 1152}),
                                     counts({1153, 1153, 1153, 1153, 1153, 1153, 1153, 1153}));
    CHECK(changed.verdict == Verdict::regressed);
    CHECK(changed.metric_class == model::MetricClass::exact);
}

TEST_CASE("a slower candidate regressed, a faster one improved", "[unit]")
{
    const auto slower = compare_one("wall_time", ten, scaled(ten, 1.2));
    CHECK(slower.verdict == Verdict::regressed);
    CHECK(gates(slower.verdict));
    CHECK(agrees(slower.shift->estimate, 1.2));
    CHECK(slower.base_n == 10);
    CHECK(agrees(*slower.base_median, 1.0005));
    CHECK(agrees(*slower.candidate_median, 1.2006));
    CHECK(slower.q == slower.p);
    CHECK_THAT(reporters::reason_text(slower.reason), Contains("+20.0 %") && Contains("more than the 5 %"));
    const auto faster = compare_one("wall_time", ten, scaled(ten, 0.8));
    CHECK(faster.verdict == Verdict::improved);
    CHECK_FALSE(gates(faster.verdict));
}

TEST_CASE("where more is better, less regressed", "[unit]")
{
    model::Metric base = metric("bandwidth", scaled(ten, 1e9));
    base.unit = model::Unit::bytes_per_second;
    base.better = model::Better::higher;
    model::Metric candidate = base;
    candidate.values = optionals(scaled(ten, 0.8e9));
    CHECK(compare_one(base, candidate).verdict == Verdict::regressed);
    CHECK(compare_one(candidate, base).verdict == Verdict::improved);
}

TEST_CASE("an interval within the threshold is the same", "[unit]")
{
    const auto result = compare_one("wall_time", ten, scaled(ten, 1.02));
    CHECK(result.verdict == Verdict::same);
    CHECK_THAT(reporters::reason_text(result.reason), Contains("within the 5 % allowed"));
}

TEST_CASE("significant but smaller than the threshold is no regression", "[unit]")
{
    const auto result = compare_one("wall_time", ten, scaled(ten, 1.045));
    CHECK(*result.q <= 0.05);
    CHECK(result.verdict == Verdict::inconclusive);
    CHECK_THAT(reporters::reason_text(result.reason), Contains("reaches beyond"));
    CHECK(compare_one("wall_time", ten, scaled(ten, 1.2), {{"wall_time", {0.3, 0}}}).verdict == Verdict::same);
}

TEST_CASE("large but not significant is inconclusive", "[unit]")
{
    const std::vector<double> noisy{0.7, 1.3, 0.8, 1.4, 1.0, 0.9, 1.6};
    const auto result = compare_one("wall_time", noisy, scaled({0.6, 1.35, 0.85, 1.42, 1.05, 0.95, 1.7}, 1.1));
    CHECK(result.verdict == Verdict::inconclusive);
    CHECK(*result.q > 0.05);
    CHECK_THAT(reporters::reason_text(result.reason), Contains("chance could do it"));
}

TEST_CASE("an absolute threshold keeps small counts quiet", "[unit]")
{
    CHECK(compare_one("minor_faults", scaled(ten, 100), scaled(ten, 150)).verdict == Verdict::same);
    CHECK(compare_one("minor_faults", scaled(ten, 10000), scaled(ten, 15000)).verdict == Verdict::regressed);
    CHECK(compare_one("working_set_peak", scaled(ten, 1e6), scaled(ten, 1.5e6)).verdict == Verdict::same);
}

TEST_CASE("counts that reach 0 are compared by difference", "[unit]")
{
    const auto none = compare_one("major_faults", std::vector<double>(8, 0), std::vector<double>(8, 0));
    CHECK(none.verdict == Verdict::same);
    CHECK_FALSE(none.shift->is_ratio);
    CHECK(*none.p == 1);
    const auto one = compare_one("major_faults", std::vector<double>(8, 0), std::vector<double>(8, 1));
    CHECK(one.verdict == Verdict::regressed);
    CHECK(one.shift->estimate == 1);
    CHECK_THAT(reporters::reason_text(one.reason), Contains("+1 "));
}

TEST_CASE("exact counters need no test and no repetitions", "[unit]")
{
    const auto same = compare_one("live_bytes_peak", {4096}, {4096});
    CHECK(same.verdict == Verdict::same);
    CHECK_FALSE(same.p.has_value());
    const auto more = compare_one("live_bytes_peak", {4096}, {4101});
    CHECK(more.verdict == Verdict::regressed);
    CHECK_FALSE(more.shift->interval.has_value());
    CHECK(agrees(more.shift->estimate, 4101.0 / 4096));
    CHECK(compare_one("live_bytes_peak", {4096}, {0}).verdict == Verdict::improved);
    CHECK(compare_one("live_bytes_peak", {8192}, {8193}).verdict == Verdict::same);  // within 0.1 %
    CHECK(compare_one("live_bytes_peak", {4096}, {4097}, {{"live_bytes_peak", {0.01, 0}}}).verdict == Verdict::same);
}

TEST_CASE("below 5 repetitions nothing is decided", "[unit]")
{
    const auto result = compare_one("wall_time", {1, 1, 1, 1}, {2, 2, 2, 2, 2, 2});
    CHECK(result.verdict == Verdict::insufficient);
    CHECK_THAT(reporters::reason_text(result.reason), Contains("4 against 6") && Contains("1 noisy metric, 5 of each"));
}

TEST_CASE("too large a family needs more repetitions, and the message says how many", "[unit]")
{
    // 2 / C(10, 5) = 0.0079: enough for 6 metrics, not for 7.
    for (const auto& [family, verdict] : {std::pair{6, Verdict::regressed}, {7, Verdict::insufficient}}) {
        std::vector<model::Metric> base;
        std::vector<model::Metric> candidate;
        for (int i = 0; i < family; ++i) {
            base.push_back(metric("time_" + std::to_string(i), {1.0, 1.01, 1.02, 1.03, 1.04}));
            candidate.push_back(metric("time_" + std::to_string(i), {2.0, 2.01, 2.02, 2.03, 2.04}));
        }
        const auto from = case_report({}, base);
        const auto to = case_report({}, candidate);
        const auto results = compare_cases(std::vector{CasePair{&from, &to}}, {});
        REQUIRE(results.size() == static_cast<std::size_t>(family));
        CHECK(results[0].verdict == verdict);
        CHECK((reporters::reason_text(results[0].reason).find("7 noisy metrics, 6 of each") != std::string::npos) ==
              (family == 7));
    }
    CHECK(repetitions_needed(1) == 5);
    CHECK(repetitions_needed(7) == 6);
    CHECK(repetitions_needed(1000) == 9);
}

TEST_CASE("the whole family is adjusted together", "[unit]")
{
    std::vector<model::Metric> base{metric("wall_time", ten)};
    std::vector<model::Metric> candidate{metric("wall_time", scaled(ten, 1.2))};
    for (int i = 0; i < 9; ++i) {
        base.push_back(metric("time_" + std::to_string(i), ten));
        candidate.push_back(base.back());
    }
    const auto from = case_report({}, base);
    const auto to = case_report({}, candidate);
    const auto results = compare_cases(std::vector{CasePair{&from, &to}}, {});
    CHECK(agrees(*results[0].q, *results[0].p * 10));
    CHECK(results[0].verdict == Verdict::regressed);
    CHECK(results[1].verdict == Verdict::same);
}

TEST_CASE("cases and metrics on one side only are reported", "[unit]")
{
    const auto from = case_report({{"mode", "a"}}, {metric("wall_time", ten), metric("cpu_time", ten)});
    const auto to = case_report({{"mode", "a"}}, {metric("drain_time", ten), metric("wall_time", ten)});
    const auto alone = case_report({{"mode", "b"}}, {metric("wall_time", ten)});
    const auto results =
        compare_cases(std::vector{CasePair{&from, &to}, CasePair{nullptr, &alone}, CasePair{&alone, nullptr}}, {});
    REQUIRE(results.size() == 5);
    CHECK(results[0].verdict == Verdict::same);
    CHECK(results[1].metric == "cpu_time");
    CHECK(results[1].verdict == Verdict::missing);
    CHECK(results[2].metric == "drain_time");
    CHECK(results[2].verdict == Verdict::added);
    CHECK(results[3].verdict == Verdict::added);
    CHECK(results[3].case_id == "demo/mode=b");
    CHECK(results[4].verdict == Verdict::missing);
}

TEST_CASE("a case that begins to fail gates, one that stops is fixed", "[unit]")
{
    for (const Status failing : {Status::failed, Status::error, Status::timeout}) {
        CHECK(compare_states(Status::ok, failing).verdict == Verdict::newly_failing);
        CHECK(compare_states(failing, Status::ok).verdict == Verdict::fixed);
        CHECK(compare_states(failing, failing).verdict == Verdict::not_comparable);
    }
    CHECK(gates(Verdict::newly_failing));
    CHECK(compare_states(Status::ok, Status::skipped).verdict == Verdict::not_comparable);
    CHECK(compare_states(Status::skipped, Status::error).verdict == Verdict::not_comparable);
}

TEST_CASE("what was measured differently is not compared", "[unit]")
{
    model::Metric other = metric("wall_time", ten);
    other.unit = model::Unit::bytes;
    CHECK(compare_one(metric("wall_time", ten), other).verdict == Verdict::not_comparable);
    model::Metric absent = metric("wall_time", {});
    absent.values.resize(3);
    absent.reason = "the clock broke";
    const auto result = compare_one(metric("wall_time", ten), absent);
    CHECK(result.verdict == Verdict::not_comparable);
    CHECK_THAT(reporters::reason_text(result.reason), Contains("no value in the candidate: the clock broke"));
    const auto nothing = case_report({}, {absent});
    CHECK(compare_cases(std::vector{CasePair{&nothing, &nothing}}, {}).empty());
}

TEST_CASE("verdicts are named", "[unit]")
{
    CHECK(model::name_of(Verdict::newly_failing) == "newly-failing");
    CHECK(model::value_of<Verdict>("not-comparable") == Verdict::not_comparable);
    CHECK(model::names<Verdict>().size() == 11);
}

TEST_CASE("named points are compared where that is asked for, counters by their values and the rest by its scatter",
          "[unit]")
{
    const model::CaseReport base = sampled(0, 1e8);
    const model::CaseReport candidate = sampled(8, 2e8);
    const std::vector pairs{CasePair{&base, &candidate}};
    CHECK(compare_cases(pairs, {}).size() == 1);

    Criteria criteria;
    criteria.points = true;
    const auto results = compare_cases(pairs, criteria);
    REQUIRE(results.size() == 3);
    CHECK(results[1].metric == "after_drop.live_bytes");
    CHECK(results[1].verdict == Verdict::regressed);
    CHECK(results[1].metric_class == model::MetricClass::exact);
    CHECK(results[2].metric == "after_drop.working_set");
    CHECK(results[2].verdict == Verdict::regressed);
    CHECK(results[2].metric_class == model::MetricClass::noisy);
    CHECK(results[2].q.has_value());

    criteria.only = {"after_drop.live_bytes"};
    criteria.thresholds["after_drop.live_bytes"] = {0, 16};
    const auto one = compare_cases(pairs, criteria);
    REQUIRE(one.size() == 1);
    CHECK(one[0].verdict == Verdict::same);
}
