#include "core/measure/comparison.hpp"

#include <algorithm>

#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

model::RunReport report(std::vector<model::CaseReport> cases)
{
    model::RunReport made;
    made.run.scenario_name = "demo";
    made.cases = std::move(cases);
    return made;
}

Comparison compare(const std::vector<model::Metric>& base, const std::vector<model::Metric>& candidate,
                   const Criteria& criteria = {})
{
    return *compare_reports(report({case_report({}, base)}), report({case_report({}, candidate)}), criteria);
}

const MetricComparison& only(const Comparison& comparison)
{
    REQUIRE(comparison.metrics.size() == 1);
    return comparison.metrics.front();
}

std::string joined(const std::vector<std::string>& sentences)
{
    std::string text;
    for (const std::string& sentence : sentences) {
        text += sentence + "\n";
    }
    return text;
}

std::string why_of(const Comparison& comparison)
{
    return joined(explanation(only(comparison), comparison.noisy_metrics));
}

}  // namespace

TEST_CASE("an outcome is the worst of the verdicts", "[unit]")
{
    const model::Metric slow = metric("wall_time", scaled(ten, 1.2));
    CHECK(outcome(compare({metric("wall_time", ten)}, {slow})) == ComparisonOutcome::regressed);
    CHECK(outcome(compare({slow}, {metric("wall_time", ten)})) == ComparisonOutcome::passed);
    CHECK(outcome(compare({metric("wall_time", {1, 1})}, {metric("wall_time", {1, 1})})) ==
          ComparisonOutcome::no_verdict);
    const Comparison both = compare({metric("wall_time", {1, 1}), metric("allocations", {4})},
                                    {metric("wall_time", {1, 1}), metric("allocations", {5})});
    CHECK(outcome(both) == ComparisonOutcome::regressed);
    const auto failed = case_report({}, {}, model::Status::error);
    CHECK(outcome(*compare_reports(report({case_report({}, {slow})}), report({failed}), {})) ==
          ComparisonOutcome::regressed);
    CHECK(outcome(*compare_reports(report({failed}), report({failed}), {})) == ComparisonOutcome::no_verdict);
}

TEST_CASE("what describes the machine is shown, and neither judged nor counted", "[unit]")
{
    const Comparison comparison = compare({metric("wall_time", ten), metric("fault_cost", ten)},
                                          {metric("wall_time", ten), metric("fault_cost", scaled(ten, 3))});
    CHECK(outcome(comparison) == ComparisonOutcome::passed);
    CHECK(comparison.noisy_metrics == 1);
    CHECK(count(comparison, Verdict::informational) == 1);
    REQUIRE(comparison.findings.size() == 1);
    CHECK_THAT(sentence(comparison.findings.front()), Contains("the machine itself differs: fault_cost is 3.0x"));
}

TEST_CASE("criteria choose the metrics and silence some", "[unit]")
{
    const std::vector<model::Metric> base{metric("wall_time", ten), metric("cpu_time", ten)};
    const std::vector<model::Metric> slow{metric("wall_time", scaled(ten, 2)), metric("cpu_time", scaled(ten, 2))};
    CHECK(only(compare(base, slow, {.thresholds = {}, .only = {"cpu_time"}, .informational = {}})).metric ==
          "cpu_time");
    const Comparison silenced =
        compare(base, slow, {.thresholds = {}, .only = {}, .informational = {"wall_time", "cpu_time"}});
    CHECK(count(silenced, Verdict::informational) == 2);
    CHECK_FALSE(outcome(silenced) == ComparisonOutcome::regressed);
}

TEST_CASE("two results without a case in common are no comparison", "[unit]")
{
    const auto refused =
        compare_reports(report({case_report({{"n", "1"}}, {})}), report({case_report({{"n", "2"}}, {})}), {});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Contains("no case is in both"));
}

TEST_CASE("two values of an axis are compared within one result", "[unit]")
{
    const auto one = [](const char* mode, const char* n, double factor) {
        return case_report({{"mode", mode}, {"n", n}}, {metric("wall_time", scaled(ten, factor))});
    };
    const model::RunReport all =
        report({one("refcount", "1", 1), one("refcount", "2", 1), one("finalizer", "1", 3), one("finalizer", "3", 1)});
    const auto comparison = compare_families(all, {"mode", "refcount"}, {"mode", "finalizer"}, {});
    REQUIRE(comparison);
    REQUIRE(comparison->cases.size() == 1);
    CHECK(comparison->cases[0].label == "n=1");
    CHECK(comparison->cases[0].base_id == "demo/mode=refcount/n=1");
    CHECK(comparison->cases[0].candidate_id == "demo/mode=finalizer/n=1");
    CHECK(only(*comparison).shift->estimate == Approx(3));
    REQUIRE_FALSE(comparison->findings.empty());
    CHECK_THAT(sentence(comparison->findings.front()),
               Contains("mode=finalizer (n=1): 3.0x the time of mode=refcount (95 % interval"));
    const auto unknown = compare_families(all, {"mode", "refcount"}, {"mode", "leak"}, {});
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Contains("no case has mode=leak") && Contains("mode=finalizer, mode=refcount"));
    CHECK_THAT(compare_families(all, {"mod", "x"}, {"mode", "leak"}, {}).error().message, Contains("axes: mode, n"));
    CHECK_FALSE(compare_families(all, {"n", "2"}, {"n", "3"}, {}));
}

TEST_CASE("findings name what changed, the worst case first", "[unit]")
{
    const auto one = [](const char* n, double factor) {
        return case_report({{"n", n}}, {metric("wall_time", scaled(ten, factor)), metric("cpu_time", ten)});
    };
    const auto comparison = compare_reports(report({one("1", 1), one("2", 1), one("3", 1)}),
                                            report({one("1", 0.5), one("2", 1), one("3", 2)}), {});
    REQUIRE(comparison);
    REQUIRE(comparison->findings.size() == 2);
    CHECK(comparison->findings[0].importance == Importance::failure);
    CHECK_THAT(sentence(comparison->findings[0]), Contains("demo/n=3: wall_time 2.0x") && Contains("regressed"));
    CHECK_THAT(sentence(comparison->findings[1]), Contains("demo/n=1: wall_time 0.50x") && Contains("improved"));
}

TEST_CASE("an explanation says what it rests on and what would change it", "[unit]")
{
    const std::string slower = why_of(compare({metric("wall_time", ten)}, {metric("wall_time", scaled(ten, 1.2))}));
    CHECK_THAT(slower, Contains("n = 10") && Contains("Mann-Whitney p = ") && Contains("among 1 noisy metric") &&
                           Contains("allowed: 5 %") && Contains("95 % interval"));
    CHECK_THAT(slower, Contains("--threshold wall_time=2"));
    CHECK_THAT(why_of(compare({metric("wall_time", {1, 1})}, {metric("wall_time", {1, 1})})),
               Contains("5 repetitions of each side (-n 5)"));
    CHECK_THAT(why_of(compare({metric("allocations", {4})}, {metric("allocations", {5})})),
               Contains("an exact counter needs no interval"));
    const Comparison doubtful = compare({metric("wall_time", ten)}, {metric("wall_time", scaled(ten, 1.045))});
    CHECK(only(doubtful).verdict == Verdict::inconclusive);
    CHECK_THAT(why_of(doubtful), Contains("needed: about"));
}

TEST_CASE("the repetitions that an explanation asks for would settle it", "[unit]")
{
    // The same scatter, more often: what is reported must be enough when the samples are as they were.
    const auto spread = [](std::size_t n, double factor) {
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i) {
            values.push_back(factor * (0.98 + 0.04 * (static_cast<double>(i) + 0.5) / static_cast<double>(n)));
        }
        return values;
    };
    const auto at = [&](std::size_t n) {
        return compare({metric("wall_time", spread(n, 1))}, {metric("wall_time", spread(n, 1.03))});
    };
    const Comparison doubtful = at(5);
    REQUIRE(only(doubtful).verdict == Verdict::inconclusive);
    const std::size_t needed = repetitions_to_settle(only(doubtful), doubtful.noisy_metrics);
    REQUIRE(needed > 5);
    CHECK(only(at(needed)).verdict == Verdict::same);
    CHECK(repetitions_to_settle(only(at(needed)), 1) == 0);
}

TEST_CASE("a counter that differs by less than is shown is told by its difference", "[unit]")
{
    Criteria strict;
    strict.thresholds["live_bytes_peak"] = {0, 0};
    const std::vector base{metric("live_bytes_peak", {800'000'000})};
    const std::vector one_more{metric("live_bytes_peak", {800'000'001})};
    const Comparison more = compare(base, one_more, strict);
    CHECK(only(more).verdict == Verdict::regressed);
    CHECK_THAT(reporters::reason_text(only(more).reason), Contains("+1 B (762.9 MiB)"));
    CHECK_THAT(why_of(more), Contains("0.00 % (+1 B)"));
    REQUIRE(more.findings.size() == 1);
    CHECK_THAT(sentence(more.findings.front()), Contains("live_bytes_peak +1 B (762.9 MiB) regressed"));
    CHECK(only(compare(base, one_more)).verdict == Verdict::same);
    CHECK_THAT(why_of(compare(base, one_more)), Contains("allowed: 0.1 %, at most 4.00 KiB"));
}

TEST_CASE("a gate judges a metric by its role, unless somebody names it", "[unit]")
{
    for (const model::MetricInfo& info : model::metric_catalog()) {
        CAPTURE(info.name);
        const std::string name{info.name};
        const double worse = info.better == model::Better::lower ? 4 : 0.25;
        const std::vector<double> large = scaled(ten, 1e9);
        const std::vector base{metric(name, large)};
        const std::vector candidate{metric(name, scaled(large, worse))};
        const auto verdict = [&](const Criteria& criteria) { return only(compare(base, candidate, criteria)).verdict; };
        const bool is_judged =
            info.role == model::Role::headline || info.role == model::Role::outcome || info.role == model::Role::event;
        CHECK(verdict({}) == (is_judged ? Verdict::regressed : Verdict::informational));
        Criteria shown;
        shown.only = {name};
        Criteria limited;
        limited.thresholds[name] = {0.05, 0};
        const bool is_named = is_judged || info.role == model::Role::context;
        CHECK(verdict(shown) == (is_named ? Verdict::regressed : Verdict::informational));
        CHECK(verdict(limited) == (is_named ? Verdict::regressed : Verdict::informational));
    }
    CHECK(model::role_of("context_switches") == model::Role::context);
    CHECK(model::role_of("pressure") == model::Role::context);
    CHECK(model::role_of("a_metric_of_a_later_version") == model::Role::outcome);
}

TEST_CASE("every metric of an informational unit is shown and not judged", "[unit]")
{
    const std::vector base{metric("wall_time", ten), metric("release_latency_p95", ten), metric("call_time_max", ten),
                           metric("pool_trim_time", ten)};
    std::vector slow = base;
    for (model::Metric& one : slow) {
        one = metric(one.name, scaled(ten, 3));
    }
    Criteria criteria;
    criteria.informational_units = {model::Unit::seconds};
    const Comparison comparison = compare(base, slow, criteria);
    CHECK(count(comparison, Verdict::informational) == 4);
    CHECK(count(comparison, Verdict::regressed) == 0);
}

TEST_CASE("a change of time that a busier machine explains is inconclusive", "[unit]")
{
    using Metrics = std::vector<model::Metric>;
    // A hundred operations, and as many faults; all in seconds.
    const auto times = [](double wall, double run_delay, double fault_cost) {
        return Metrics{metric("wall_time", scaled(ten, wall)),
                       metric("time_per_op", scaled(ten, wall / 100)),
                       metric("operations", std::vector<double>(10, 100)),
                       metric("minor_faults", std::vector<double>(10, 100)),
                       metric("run_delay_time", scaled(ten, run_delay)),
                       metric("fault_cost", scaled(ten, fault_cost)),
                       metric("fault_time", scaled(ten, fault_cost * 100))};
    };
    const Metrics quiet = times(1, 0, 1e-3);
    const auto verdict = [](const Comparison& comparison, std::string_view name) -> const MetricComparison& {
        return *std::ranges::find(comparison.metrics, name, &MetricComparison::metric);
    };
    for (const Metrics& busy : {times(1.5, 0.5, 1e-3), times(1.5, 0, 6e-3), times(1.5, 0.3, 3e-3)}) {
        const Comparison comparison = compare(quiet, busy);
        CHECK(outcome(comparison) == ComparisonOutcome::passed);
        for (const std::string_view name : {"wall_time", "time_per_op"}) {
            const MetricComparison& found = verdict(comparison, name);
            CHECK(found.verdict == Verdict::inconclusive);
            CHECK(found.busier_machine);
            CHECK_THAT(reporters::reason_text(found.reason),
                       Contains("the machine was busier") && Contains("within the 5 % allowed"));
            CHECK(repetitions_to_settle(found, comparison.noisy_metrics) == 0);
        }
        CHECK(std::ranges::any_of(comparison.findings, [](const Finding& one) {
            return one.importance == Importance::warning &&
                   sentence(one).find("machine was busier") != std::string::npos;
        }));
        // The mirror: a base that was measured beside something else shows no improvement.
        CHECK(verdict(compare(busy, quiet), "wall_time").verdict == Verdict::inconclusive);
    }
    CHECK_THAT(reporters::reason_text(verdict(compare(quiet, times(1.5, 0.5, 1e-3)), "wall_time").reason),
               Contains("waiting for a processor explains 100 % (500.2 ms)"));
    CHECK_THAT(reporters::reason_text(verdict(compare(quiet, times(1.5, 0, 6e-3)), "wall_time").reason),
               Contains("page faults at 6.00 ms each instead of 1.00 ms"));
    // Who waits is slowed down by more than the waiting. That is no part of the time on a processor.
    CHECK_THAT(reporters::reason_text(verdict(compare(quiet, times(1.5, 0.4, 1e-3)), "wall_time").reason),
               Contains("in 10 of 10 repetitions of the candidate the case waited for a processor"));
    CHECK(outcome(compare(quiet, times(1.5, 0, 1e-3))) == ComparisonOutcome::regressed);
    Metrics cpu = times(1, 0.5, 1e-3);
    cpu.push_back(metric("cpu_time", scaled(ten, 1.5)));
    Metrics cpu_before = quiet;
    cpu_before.push_back(metric("cpu_time", ten));
    CHECK(verdict(compare(cpu_before, cpu), "cpu_time").verdict == Verdict::regressed);
}

TEST_CASE("more faults at the same price are the case's doing, and so is waiting within one result", "[unit]")
{
    const std::vector base{metric("wall_time", ten), metric("minor_faults", std::vector<double>(10, 100)),
                           metric("fault_cost", scaled(ten, 1e-3)), metric("fault_time", scaled(ten, 0.1)),
                           metric("run_delay_time", scaled(ten, 0))};
    const std::vector more{metric("wall_time", scaled(ten, 1.5)), metric("minor_faults", std::vector<double>(10, 600)),
                           metric("fault_cost", scaled(ten, 1e-3)), metric("fault_time", scaled(ten, 0.6)),
                           metric("run_delay_time", scaled(ten, 0))};
    CHECK(outcome(compare(base, more)) == ComparisonOutcome::regressed);
    std::vector waiting = base;
    waiting.front() = metric("wall_time", scaled(ten, 1.5));
    waiting.back() = metric("run_delay_time", scaled(ten, 0.5));
    const auto both = report({case_report({{"mode", "a"}}, base), case_report({{"mode", "b"}}, waiting)});
    const auto between = compare_families(both, {"mode", "a"}, {"mode", "b"}, {});
    REQUIRE(between);
    CHECK(outcome(*between) == ComparisonOutcome::regressed);
}
