#include "core/measure/assertions.hpp"

#include "tests/measure/reference_vectors.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::Assertion;
using model::AssertionOutcome;
using model::AssertionResult;
using model::CaseReport;
using model::Status;

namespace {

Assertion assertion(const char* text, std::vector<model::Param> where = {},
                    model::Severity severity = model::Severity::fail)
{
    Assertion made;
    made.text = text;
    made.expression = model::parse_expression(text).value();
    made.where = std::move(where);
    made.severity = severity;
    return made;
}

std::vector<AssertionResult> judged(const char* text, const std::vector<CaseReport>& cases,
                                    std::vector<model::Param> where = {})
{
    return evaluate({assertion(text, std::move(where))}, cases);
}

CaseReport mode(const char* name, std::vector<double> times, const char* size = "1")
{
    return case_report({{"mode", name}, {"size", size}}, {metric("wall_time", times)});
}

}  // namespace

TEST_CASE("an assertion is judged in every case it matches", "[unit]")
{
    const std::vector cases{mode("refcount", {1, 2, 3}), mode("finalizer", {4, 5, 6})};
    const auto all = judged("wall_time.median < 3s", cases);
    REQUIRE(all.size() == 2);
    CHECK(all[0].case_id == "demo/mode=refcount/size=1");
    CHECK(all[0].outcome == AssertionOutcome::passed);
    CHECK(all[0].actual == 2);
    CHECK(all[0].unit == model::Unit::seconds);
    CHECK(all[0].expression == "wall_time.median < 3s");
    CHECK(all[1].outcome == AssertionOutcome::failed);
    CHECK(all[1].actual == 5);
    CHECK(all[1].reason.empty());

    const auto some = judged("wall_time.max < 3s", cases, {{"mode", std::string{"refcount"}}});
    REQUIRE(some.size() == 1);
    CHECK(some[0].outcome == AssertionOutcome::failed);
}

TEST_CASE("severity travels with the result", "[unit]")
{
    const auto results =
        evaluate({assertion("wall_time.min > 1h", {}, model::Severity::warn)}, {mode("refcount", {1})});
    REQUIRE(results.size() == 1);
    CHECK(results[0].severity == model::Severity::warn);
}

TEST_CASE("a point's metric is taken over all repetitions", "[unit]")
{
    CaseReport report = case_report({}, {});
    for (std::uint32_t repetition = 0; repetition < 3; ++repetition) {
        report.points.push_back(point(repetition, "after_alloc"));
        report.points.back().live_bytes = 1e6;
        report.points.push_back(point(repetition, "after_drop"));
        report.points.back().live_bytes = repetition == 1 ? 8 : 0;
    }
    const auto worst = judged("after_drop.live_bytes.max == 0B", {report});
    REQUIRE(worst.size() == 1);
    CHECK(worst[0].outcome == AssertionOutcome::failed);
    CHECK(worst[0].actual == 8);
    CHECK(worst[0].unit == model::Unit::bytes);
    CHECK(judged("after_drop.live_bytes.median == 0B", {report})[0].outcome == AssertionOutcome::passed);
}

TEST_CASE("nothing to judge fails and says why", "[unit]")
{
    CaseReport report = mode("refcount", {1, 2, 3});
    report.points.push_back(point(0, "after_drop"));
    report.metrics.push_back(metric("drain_time", {}));
    report.metrics.back().values.resize(3);
    report.metrics.back().reason = "nothing was drained";
    const std::vector<std::pair<const char*, const char*>> expected{
        {"cpu_time.median < 1s", "cpu_time was not measured"},
        {"drain_time.median < 1s", "no drain_time: nothing was drained"},
        {"after_dorp.live_bytes.max == 0B", "no point named after_dorp was sampled; there are: after_drop"},
        {"after_drop.live_bytes.max == 0B", "live_bytes was not measured at after_drop"},
        {"wall_time.ci_hi < 1h", "needs 6 values; there are 3"}};
    for (const auto& [text, reason] : expected) {
        const auto results = judged(text, {report});
        REQUIRE(results.size() == 1);
        CHECK(results[0].outcome == AssertionOutcome::failed);
        CHECK_FALSE(results[0].actual.has_value());
        CHECK_THAT(results[0].reason, Contains(reason));
    }
}

TEST_CASE("a case that did not run is not judged", "[unit]")
{
    for (const Status status : {Status::skipped, Status::error, Status::failed, Status::timeout}) {
        CaseReport report = mode("finalizer", {1});
        report.status = status;
        const std::string who = "demo/mode=finalizer/size=1 (" + std::string{model::name_of(status)} + ")";
        for (const auto& results :
             {judged("wall_time.median < 1ns", {report}),
              judged("ratio(wall_time.median, mode=finalizer, mode=refcount) < 1", {report, mode("refcount", {1})})}) {
            REQUIRE(results.size() == 1);
            CHECK(results[0].outcome == AssertionOutcome::not_evaluated);
            CHECK(results[0].case_id.empty());
            CHECK_FALSE(results[0].actual.has_value());
            CHECK(results[0].reason == "not measured: " + who);
        }
    }
}

TEST_CASE("an assertion that speaks of no case of the run says so", "[unit]")
{
    const std::vector cases{mode("refcount", {1}), mode("refcount", {2}, "2")};
    const std::vector<model::Param> other{{"mode", std::string{"leak"}}, {"size", std::string{"2"}}};
    const auto reason = [&](const char* text, std::vector<model::Param> where) {
        const auto results = judged(text, cases, std::move(where));
        REQUIRE(results.size() == 1);
        CHECK(results[0].outcome == AssertionOutcome::not_evaluated);
        return results[0].reason;
    };
    CHECK(reason("wall_time.median < 1s", other) == "no case of this run has mode=leak, size=2");
    CHECK(reason("ratio(wall_time.median, mode=leak, mode=refcount) < 1", {}) ==
          "no two cases of this run differ in mode=leak and mode=refcount alone");
    CHECK(judged("wall_time.median < 1s", {})[0].reason == "this run has no case");
    CHECK(judged("wall_time.median < 1h", cases, {{"size", std::string{"2"}}}).size() == 1);
}

TEST_CASE("a ratio divides the first by the second", "[unit]")
{
    const std::vector cases{mode("refcount", {1, 2, 3}), mode("finalizer", {6, 7, 8})};
    const auto results = judged("ratio(wall_time.median, mode=finalizer, mode=refcount) >= 3.5", cases);
    REQUIRE(results.size() == 1);
    CHECK(results[0].outcome == AssertionOutcome::passed);
    CHECK(agrees(*results[0].actual, 3.5));
    CHECK(results[0].unit == model::Unit::one);
    CHECK(results[0].case_id.empty());
    CHECK(results[0].expression == "ratio(wall_time.median, mode=finalizer, mode=refcount) >= 3.5");
}

TEST_CASE("a slope is what the second has more, over the length between them", "[unit]")
{
    const auto calls = [](const char* count, std::vector<double> times) {
        return case_report({{"calls", count}}, {metric("wall_time", times)});
    };
    const std::vector cases{calls("10", {7, 8}), calls("20", {26, 28})};  // 8 and 28: two more per call
    const auto results = judged("slope(wall_time.max, calls=10, calls=20) < 0.5", cases);
    REQUIRE(results.size() == 1);
    CHECK(results[0].actual == 2);
    CHECK(results[0].outcome == AssertionOutcome::failed);
    CHECK(judged("slope(wall_time.max, calls=20, calls=10) == 2", cases)[0].outcome == AssertionOutcome::passed);
}

TEST_CASE("a ratio is judged for every pair that its filter matches", "[unit]")
{
    const std::vector cases{mode("refcount", {1}), mode("refcount", {2}, "2"), mode("finalizer", {4}, "2"),
                            mode("finalizer", {3})};
    const char* text = "ratio(wall_time.median, mode=finalizer, mode=refcount) >= 2.5";
    const auto all = judged(text, cases);
    REQUIRE(all.size() == 2);
    CHECK(agrees(*all[0].actual, 2));
    CHECK(all[0].outcome == AssertionOutcome::failed);
    CHECK_THAT(all[0].expression, Contains("(size=2)"));
    CHECK(agrees(*all[1].actual, 3));
    CHECK(all[1].outcome == AssertionOutcome::passed);
    REQUIRE(judged(text, cases, {{"size", std::string{"1"}}}).size() == 1);
    CHECK(judged(text, cases, {{"size", std::string{"1"}}})[0].outcome == AssertionOutcome::passed);
}

TEST_CASE("a ratio without values or over 0 fails and says why", "[unit]")
{
    const char* text = "ratio(wall_time.median, mode=finalizer, mode=refcount) >= 1";
    const auto zero = judged(text, {mode("refcount", {0}), mode("finalizer", {1})});
    REQUIRE(zero.size() == 1);
    CHECK(zero[0].outcome == AssertionOutcome::failed);
    CHECK_THAT(zero[0].reason, Contains("mode=refcount") && Contains("divisor is 0"));
    const auto absent = judged(text, {mode("refcount", {1}), case_report({{"mode", "finalizer"}, {"size", "1"}}, {})});
    REQUIRE(absent.size() == 1);
    CHECK_FALSE(absent[0].actual.has_value());
    CHECK_THAT(absent[0].reason, Contains("mode=finalizer") && Contains("was not measured"));
}
