#include "core/measure/recorded_comparison.hpp"

#include "core/measure/likeness.hpp"
#include "core/measure/paired_comparison.hpp"
#include "core/measure/ranking.hpp"
#include "core/measure/summary.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

std::vector<double> twenty(double factor)
{
    std::vector<double> values = ten;
    values.insert(values.end(), ten.begin(), ten.end());
    return scaled(std::move(values), factor);
}

model::RunReport two_builds(double factor)
{
    model::RunReport report;
    report.cases.push_back(case_report({{"build", "base"}}, {metric("wall_time", twenty(1))}));
    report.cases.push_back(case_report({{"build", "candidate"}}, {metric("wall_time", twenty(factor))}));
    return report;
}

const model::RatioOf base_build{"build", "base"};
const model::RatioOf candidate_build{"build", "candidate"};

TEST_CASE("a factor that would read 1.00 is said in per cent, or not at all", "[unit]")
{
    const auto said = [](const Shift& shift) {
        return sentence({.kind = FindingKind::ranking, .base = "b", .subject = "a", .metrics = {{.effect = shift}}});
    };
    CHECK(said({.is_ratio = true, .estimate = 1.07, .interval = {{1.05, 1.09}}}) ==
          "a ran 1.07 ± 0.02 times faster than b");
    CHECK(said({.is_ratio = true, .estimate = 4.19, .interval = {{1.2, 9.84}}}) ==
          "a ran 4.19 (1.20 to 9.84) times faster than b");
    CHECK(said({.is_ratio = true, .estimate = 1.0031, .interval = {{1.0021, 1.0041}}}) ==
          "a ran 0.31 ± 0.10 % faster than b");
    CHECK(said({.is_ratio = true, .estimate = 1.002, .interval = {{0.98, 1.02}}}) ==
          "a and b are not shown to differ in time: 1.00 ± 0.02 times");
    CHECK(said({.is_ratio = true, .estimate = 1.002}) == "a ran as fast as b, by too few repetitions to be sure");
    CHECK(said({.is_ratio = true, .estimate = 1.2}) ==
          "a ran 1.20 times faster than b, by too few repetitions to be sure");
}

}  // namespace

TEST_CASE("a result says of itself what its comparison said", "[unit]")
{
    for (const double allowed : {0.01, 0.07, 0.1}) {
        Criteria criteria;
        criteria.thresholds["wall_time"] = {.relative = allowed, .absolute = 1e-9, .at_most = 12.5};
        criteria.thresholds["cpu_time"] = {.relative = 1.0 / 3};
        criteria.only = {"wall_time", "cpu_time"};
        criteria.informational = {"minor_faults"};
        criteria.informational_units = {model::Unit::bytes};
        criteria.strict_counters = true;
        for (const double factor : {0.9, 1.0, 1.05, 1.2}) {
            model::RunReport report = two_builds(factor);
            const Comparison said = compare_rounds(report, base_build, candidate_build, criteria).value();
            report.run.overrides = record_comparison(base_build, candidate_build, criteria);
            const auto again = recorded_comparison(report);
            REQUIRE(again);
            CHECK(outcome(*again) == outcome(said));
            REQUIRE(again->metrics.size() == said.metrics.size());
            for (std::size_t i = 0; i < said.metrics.size(); ++i) {
                CHECK(again->metrics[i].verdict == said.metrics[i].verdict);
                CHECK(again->metrics[i].threshold.relative == said.metrics[i].threshold.relative);
                CHECK(again->metrics[i].threshold.absolute == said.metrics[i].threshold.absolute);
                CHECK(again->metrics[i].threshold.at_most == said.metrics[i].threshold.at_most);
            }
        }
    }
}

TEST_CASE("only a result that was measured to compare is a comparison", "[unit]")
{
    model::RunReport report = two_builds(2);
    CHECK_FALSE(recorded_comparison(report));
    report.run.argv = {"memsweep", "run", "-n", "20", "--", "app", "--against"};
    CHECK_FALSE(recorded_comparison(report));
    report.run.argv = {"memsweep", "run", "--against", "old", "--", "app"};
    REQUIRE(recorded_comparison(report));
    CHECK(outcome(*recorded_comparison(report)) == ComparisonOutcome::regressed);
    report.cases.pop_back();
    CHECK_FALSE(recorded_comparison(report));
}

TEST_CASE("how a result is judged makes it unlike no other", "[unit]")
{
    model::RunReport plain = two_builds(1);
    plain.run.scenario_fingerprint = "a";
    plain.machine.fingerprint = "m";
    model::RunReport judged = plain;
    judged.run.overrides = record_comparison(base_build, candidate_build, {});
    CHECK(differences(plain, judged).empty());
    judged.run.scenario_fingerprint = "b";
    REQUIRE(differences(plain, judged).size() == 1);
    CHECK(differences(plain, judged).front().find("judged") == std::string::npos);
    judged.run.overrides["axis.n"] = "[1]";
    CHECK(differences(plain, judged).front().find("axis.n") != std::string::npos);
}

TEST_CASE("programs of one command line are ranked by their time", "[unit]")
{
    model::RunReport report;
    report.run.argv = {"memsweep", "run", "a", "b", "c"};
    for (const auto& [name, factor] : {std::pair{"slow", 3.0}, {"fast", 1.0}, {"middle", 2.0}}) {
        report.cases.push_back(case_report({{"command", name}}, {metric("wall_time", twenty(factor))}));
        report.cases.back().metrics.front().summary = summarize(report.cases.back().metrics.front().values);
    }
    const std::vector<Finding> found = ranking_findings(report);
    REQUIRE(found.size() == 2);
    CHECK(found[0].subject == "fast");
    CHECK(found[0].base == "middle");
    CHECK(found[1].base == "slow");
    CHECK(found[1].metrics.front().effect->estimate > 2.9);
    CHECK(found[1].metrics.front().effect->estimate < 3.1);
    report.run.scenario_path = "s.json";
    CHECK(ranking_findings(report).empty());
}
