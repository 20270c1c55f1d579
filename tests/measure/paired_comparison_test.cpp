#include "core/measure/paired_comparison.hpp"

#include "core/measure/paired.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

std::vector<double> first(std::vector<double> values, std::size_t count, double factor = 1)
{
    values.resize(count);
    return scaled(std::move(values), factor);
}

std::vector<double> twenty()
{
    std::vector<double> values = ten;
    values.insert(values.end(), ten.begin(), ten.end());
    return values;
}

model::RunReport run_of(std::vector<model::Metric> base, std::vector<model::Metric> candidate)
{
    model::RunReport report;
    report.cases.push_back(case_report({{"build", "base"}}, std::move(base)));
    report.cases.push_back(case_report({{"build", "candidate"}}, std::move(candidate)));
    return report;
}

Comparison judged(const model::RunReport& report, const Criteria& criteria = {})
{
    return compare_rounds(report, {"build", "base"}, {"build", "candidate"}, criteria).value();
}

Verdict verdict_of(const Comparison& comparison, std::string_view name)
{
    const auto found = std::ranges::find(comparison.metrics, name, &MetricComparison::metric);
    REQUIRE(found != comparison.metrics.end());
    return found->verdict;
}

}  // namespace

TEST_CASE("rounds of two builds are judged by the paired test, with thresholds of its own", "[unit]")
{
    const auto report = run_of(
        {metric("wall_time", twenty()), metric("context_switches_of_somebody", twenty())},
        {metric("wall_time", scaled(twenty(), 1.05)), metric("context_switches_of_somebody", scaled(twenty(), 2))});
    const Comparison comparison = judged(report);
    CHECK(verdict_of(comparison, "wall_time") == Verdict::regressed);
    CHECK(verdict_of(comparison, "context_switches_of_somebody") == Verdict::informational);
    CHECK(comparison.noisy_metrics == 1);
    CHECK(outcome(comparison) == ComparisonOutcome::regressed);
    CHECK(is_settled(comparison));
    Criteria criteria;
    criteria.thresholds["wall_time"] = {0.1, 0};
    CHECK(verdict_of(judged(report, criteria), "wall_time") == Verdict::same);
    criteria.thresholds["context_switches_of_somebody"] = {0.1, 0};
    CHECK(verdict_of(judged(report, criteria), "context_switches_of_somebody") == Verdict::regressed);
}

TEST_CASE("rounds end where noise asks for too many of them", "[unit]")
{
    base::Rng rng{7};
    const std::vector<double> base = noisy_sample(rng, 40, 1, 0.3);
    const std::vector<double> candidate = noisy_sample(rng, 40, 1, 0.3);
    const auto after = [&](std::size_t rounds) {
        return judged(
            run_of({metric("wall_time", first(base, rounds))}, {metric("wall_time", first(candidate, rounds))}));
    };
    const std::size_t first_verdict = least_rounds(share_of_false_alarms(model::MetricClass::noisy, 1));
    CHECK_FALSE(is_settled(after(first_verdict - 1)));
    CHECK(is_settled(after(first_verdict)));
    CHECK(verdict_of(after(first_verdict), "wall_time") == Verdict::inconclusive);
    CHECK(outcome(after(first_verdict)) == ComparisonOutcome::passed);
}

TEST_CASE("rounds end where a program waits unevenly and takes the same processor time", "[unit]")
{
    base::Rng rng{11};
    const std::vector<double> waiting_base = noisy_sample(rng, 10, 1, 0.1);
    const std::vector<double> waiting_candidate = noisy_sample(rng, 10, 1, 0.1);
    const std::vector<double> processor = first(ten, 10);
    const auto report = [&](double slower) {
        return run_of({metric("wall_time", waiting_base), metric("cpu_time", processor)},
                      {metric("wall_time", scaled(waiting_candidate, slower)), metric("cpu_time", processor)});
    };
    const Comparison alike = judged(report(1));
    CHECK(verdict_of(alike, "cpu_time") == Verdict::same);
    CHECK(verdict_of(alike, "wall_time") == Verdict::inconclusive);
    CHECK(is_settled(alike));
    CHECK(outcome(alike) == ComparisonOutcome::passed);

    CHECK_FALSE(is_settled(judged(report(1.2))));
    Criteria asked;
    asked.thresholds["wall_time"] = {0.025, 0};
    CHECK_FALSE(is_settled(judged(report(1), asked)));
    const auto without_processor_time =
        run_of({metric("wall_time", waiting_base)}, {metric("wall_time", waiting_candidate)});
    CHECK_FALSE(is_settled(judged(without_processor_time)));
}

TEST_CASE("the sentence on the time of two builds has the size that the rounds show", "[unit]")
{
    std::vector<double> base = twenty();
    for (std::size_t i = 0; i < base.size(); ++i) {
        base[i] *= static_cast<double>(1 + i);  // a machine that becomes slower and slower
    }
    const Comparison comparison = judged(run_of({metric("wall_time", base)}, {metric("wall_time", scaled(base, 1.1))}));
    REQUIRE(verdict_of(comparison, "wall_time") == Verdict::regressed);
    REQUIRE_FALSE(comparison.findings.empty());
    CHECK_THAT(sentence(comparison.findings.front()), Catch::Matchers::Contains("1.10x"));
    CHECK_THAT(sentence(comparison.findings.front()), Catch::Matchers::Contains("1.10 to 1.10"));
}

TEST_CASE("rounds go on where a few were disturbed", "[unit]")
{
    base::Rng rng{7};
    std::vector<double> base = noisy_sample(rng, 14, 1, 0.02);
    const std::vector<double> candidate = noisy_sample(rng, 14, 1, 0.02);
    base[3] *= 1.4;
    base[6] *= 1.5;
    base[8] *= 1.6;
    base[12] *= 1.4;
    const Comparison comparison = judged(run_of({metric("wall_time", base)}, {metric("wall_time", candidate)}));
    CHECK(verdict_of(comparison, "wall_time") == Verdict::inconclusive);
    CHECK_FALSE(is_settled(comparison));
}

TEST_CASE("rounds go on until everything judged is decided", "[unit]")
{
    const auto after = [](std::size_t rounds) {
        return judged(run_of({metric("wall_time", first(ten, rounds)), metric("allocations", first(ten, rounds, 0))},
                             {metric("wall_time", first(ten, rounds)), metric("allocations", first(ten, rounds, 0))}));
    };
    CHECK_FALSE(is_settled(after(3)));
    CHECK(outcome(after(3)) == ComparisonOutcome::no_verdict);
    CHECK(is_settled(after(9)));
    CHECK(outcome(after(9)) == ComparisonOutcome::passed);
}
