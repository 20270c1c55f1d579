#include "core/measure/merge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/summary.hpp"
#include "tests/measure/samples.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::AssertionOutcome;

namespace {

model::RunReport result(std::string id, std::vector<model::CaseReport> cases)
{
    model::RunReport made;
    made.run.id = std::move(id);
    made.run.scenario_name = "demo";
    made.run.scenario_fingerprint = "aaaaaaaaaaaaaaaa";
    made.run.started = "2026-01-02T00:00:00.000Z";
    made.run.ended = "2026-01-02T00:01:00.000Z";
    made.run.interrupted = false;
    made.machine.fingerprint = "mmmmmmmmmmmmmmmm";
    made.cases = std::move(cases);
    return made;
}

model::CaseReport timed(const std::string& mode, const std::vector<double>& seconds)
{
    model::CaseReport report = case_report({{"mode", mode}}, {metric("wall_time", seconds)});
    report.repetitions = static_cast<std::uint32_t>(seconds.size());
    report.planned_repetitions = report.repetitions + 1;
    for (std::uint32_t i = 0; i < report.repetitions; ++i) {
        report.points.push_back(point(i, "end"));
        report.phases.push_back({.repetition = i, .name = "main"});
    }
    return report;
}

base::Expected<model::RunReport> merged(const std::vector<model::RunReport>& results, bool force = false)
{
    std::vector<MergePart> parts;
    for (const model::RunReport& one : results) {
        parts.push_back({"part" + std::to_string(parts.size()), &one});
    }
    return merge(parts, force);
}

std::string refusal(const std::vector<model::RunReport>& results, bool force = false)
{
    const auto one = merged(results, force);
    REQUIRE_FALSE(one);
    return base::describe(one.error());
}

model::AssertionResult claim(std::string case_id, std::string expression, bool passed)
{
    model::AssertionResult made;
    made.case_id = std::move(case_id);
    made.expression = std::move(expression);
    made.outcome = passed ? AssertionOutcome::passed : AssertionOutcome::failed;
    made.unit = model::Unit::seconds;
    return made;
}

}  // namespace

TEST_CASE("a case gets the repetitions of all results, in their order", "[unit]")
{
    const auto made = merged({result("r1", {timed("a", {1, 2}), timed("b", {9})}),
                              result("r2", {timed("a", {3, 4, 5})}), result("r3", {timed("c", {7})})});
    REQUIRE(made);
    REQUIRE(made->cases.size() == 3);
    const model::CaseReport& a = made->cases[0];
    CHECK(a.repetitions == 5);
    CHECK(a.planned_repetitions == 7);
    CHECK(a.metrics[0].values == optionals({1, 2, 3, 4, 5}));
    REQUIRE(a.metrics[0].summary);
    CHECK(a.metrics[0].summary->median == 3);
    REQUIRE(a.points.size() == 5);
    CHECK(a.points[2].repetition == 2);
    CHECK(a.phases[4].repetition == 4);
    CHECK(made->cases[1].repetitions == 1);
    CHECK(made->cases[2].metrics[0].summary->median == 7);
    CHECK(made->run.tags.at("merged_from") == "r1 r2 r3");
}

TEST_CASE("the times of single calls are those of all parts", "[unit]")
{
    auto one = timed("atomic", {1.0});
    one.call_times = {{"allocate", 16, 31, {1e-8, 3e-8}, {10, 1}}};
    auto other = timed("atomic", {2.0});
    // The clock's steps differ by its calibration. The second size and the releases are in this part only.
    other.call_times = {{"allocate", 16, 31, {1.01e-8, 2e-8}, {5, 2}},
                        {"allocate", 32, 63, {4e-8}, {7}},
                        {"release", 16, 31, {1e-8}, {3}}};

    const auto whole = merged({result("a", {one}), result("b", {other})});
    REQUIRE(whole);
    const auto& times = whole->cases[0].call_times;
    REQUIRE(times.size() == 3);
    CHECK(times[0].seconds == std::vector<double>{1e-8, 2e-8, 3e-8});
    CHECK(times[0].counts == std::vector<std::uint64_t>{15, 2, 1});
    CHECK(times[1].from_bytes == 32);
    CHECK(times[1].counts == std::vector<std::uint64_t>{7});
    CHECK(times[2].call == "release");
    CHECK(times[2].counts == std::vector<std::uint64_t>{3});
}

TEST_CASE("a merged run spans its parts, and is unfinished when one is", "[unit]")
{
    model::RunReport later = result("r2", {});
    later.run.started = "2026-01-03T00:00:00.000Z";
    later.run.ended = "2026-01-03T00:01:00.000Z";
    later.run.tags = {{"job", "2"}, {"night", "yes"}};
    model::RunReport first = result("r1", {});
    first.run.tags = {{"job", "1"}, {"night", "yes"}};
    auto made = merged({later, first});
    REQUIRE(made);
    CHECK(made->run.started == first.run.started);
    CHECK(made->run.ended == later.run.ended);
    CHECK_FALSE(made->run.interrupted);
    CHECK(made->run.tags.at("job") == "2, 1");
    CHECK(made->run.tags.at("night") == "yes");
    first.run.interrupted = true;
    first.run.ended.clear();
    made = merged({later, first});
    CHECK(made->run.interrupted);
    CHECK(made->run.ended.empty());
}

TEST_CASE("a run is merged once only, also through a merged result, and by no force", "[unit]")
{
    const model::RunReport first = result("r1", {});
    CHECK_THAT(refusal({first, first}), Contains("part1: run r1 is in part0 too"));
    CHECK_THAT(refusal({first, first}, true), Contains("r1"));
    model::RunReport both = result("m1", {});
    both.run.tags["merged_from"] = "r1 r2";
    CHECK_THAT(refusal({first, both}), Contains("run r1 is in"));
    const auto made = merged({both, result("r3", {})});
    REQUIRE(made);
    CHECK(made->run.tags.at("merged_from") == "r1 r2 r3");
}

TEST_CASE("unlike results are refused with what differs, or merged by force with a warning", "[unit]")
{
    model::RunReport other = result("r2", {timed("a", {2})});
    other.machine.fingerprint = "nnnn";
    other.machine.cores = 8;
    const model::RunReport first = result("r1", {timed("a", {1})});
    CHECK_THAT(refusal({first, other}),
               Contains("part1: cannot be merged with part0: the machines differ: cores 0 against 8"));
    const auto forced = merged({first, other}, true);
    REQUIRE(forced);
    CHECK(forced->cases[0].repetitions == 2);
    REQUIRE_FALSE(forced->warnings.empty());
    CHECK(forced->warnings[0].code == "merged-by-force");

    other = result("r2", {});
    other.run.scenario_fingerprint = "bbbb";
    other.run.scenario_name = "other";
    CHECK_THAT(refusal({first, other}), Contains("the scenarios differ"));
}

TEST_CASE("settings that fingerprints leave out are reported", "[unit]")
{
    model::RunReport other = result("r2", {});
    other.machine.governor = "powersave";
    const auto made = merged({result("r1", {}), other});
    REQUIRE(made);
    REQUIRE(made->warnings.size() == 1);
    CHECK(made->warnings[0].code == "merged-unlike");
    CHECK_THAT(made->warnings[0].message, Contains("governor"));
}

TEST_CASE("conflicting units are refused, also by force", "[unit]")
{
    model::RunReport other = result("r2", {timed("a", {2})});
    other.cases[0].metrics[0].unit = model::Unit::bytes;
    const model::RunReport first = result("r1", {timed("a", {1})});
    CHECK_THAT(refusal({first, other}, true),
               Contains("part1: demo/mode=a: wall_time has unit B") && Contains("and s"));
    other = result("r2", {timed("a", {2})});
    other.cases[0].metrics[0].better = model::Better::higher;
    CHECK_THAT(refusal({first, other}), Contains("higher"));

    model::RunReport curve = result("r1", {timed("a", {1})});
    curve.cases[0].series = {{.name = "working_set", .unit = model::Unit::bytes}};
    other = result("r2", {timed("a", {2})});
    other.cases[0].series = {{.name = "working_set", .unit = model::Unit::one}};
    CHECK_THAT(refusal({curve, other}), Contains("series working_set has unit 1"));
}

TEST_CASE("what only one part measured is absent in the other's repetitions, with a reason", "[unit]")
{
    model::RunReport more = result("r2", {timed("a", {3, 4})});
    more.cases[0].metrics.push_back(metric("allocations", {5, 6}));
    const model::RunReport first = result("r1", {timed("a", {1, 2})});
    for (const bool more_first : {false, true}) {
        const auto made = more_first ? merged({more, first}) : merged({first, more});
        REQUIRE(made);
        const model::Metric& added = made->cases[0].metrics[1];
        CHECK(added.values.size() == 4);
        CHECK(present(added.values) == std::vector<double>{5, 6});
        CHECK(added.values[more_first ? 0 : 2] == 5);
        CHECK_FALSE(added.reason.empty());
        CHECK(made->cases[0].metrics[0].reason.empty());
    }
    model::RunReport broken = result("r2", {timed("a", {3, 4})});
    broken.cases[0].repetitions = 1;
    CHECK_THAT(refusal({first, broken}), Contains("wall_time has more values than repetitions"));
}

TEST_CASE("a case is what its worst part is, and skipped only where all skipped it", "[unit]")
{
    const auto status = [](model::Status a, model::Status b) {
        model::CaseReport one = timed("a", {1});
        one.status = a;
        one.reason = a == model::Status::ok ? "" : "why";
        model::CaseReport two = timed("a", {2});
        two.status = b;
        two.reason = b == model::Status::ok ? "" : "because";
        const auto made = merged({result("r1", {one}), result("r2", {two})});
        REQUIRE(made);
        CHECK((made->cases[0].status == model::Status::ok) == made->cases[0].reason.empty());
        return made->cases[0].status;
    };
    using enum model::Status;
    CHECK(status(ok, ok) == ok);
    CHECK(status(ok, skipped) == ok);
    CHECK(status(skipped, ok) == ok);
    CHECK(status(skipped, skipped) == skipped);
    CHECK(status(ok, timeout) == timeout);
    CHECK(status(error, timeout) == error);
    CHECK(status(failed, ok) == failed);
}

TEST_CASE("assertions are judged again over all repetitions", "[unit]")
{
    model::RunReport first = result("r1", {timed("a", {1, 1}), timed("b", {2, 2})});
    model::RunReport second = result("r2", {timed("a", {9, 9, 9}), timed("b", {2, 2})});
    first.assertions = {claim("demo/mode=a", "wall_time.median < 5s", true),
                        claim("", "ratio(wall_time.median, mode=a, mode=b) < 1", true)};
    second.assertions = {claim("demo/mode=a", "wall_time.median < 5s", false),
                         claim("", "ratio(wall_time.median, mode=a, mode=b) < 1", false),
                         claim("demo/mode=b", "no expression", false)};
    second.cases[0].status = model::Status::failed;
    second.cases[0].reason = "assertion failed: wall_time.median < 5s";
    auto made = merged({first, second});
    REQUIRE(made);
    REQUIRE(made->assertions.size() == 3);
    CHECK(made->assertions[0].actual == 9);
    CHECK(made->assertions[0].outcome == AssertionOutcome::failed);
    CHECK(made->assertions[1].actual == 4.5);
    CHECK(made->assertions[2].outcome == AssertionOutcome::failed);  // from another version: kept as it was
    CHECK(made->cases[0].status == model::Status::failed);

    second.cases[0] = timed("a", {9});
    second.cases[0].status = model::Status::failed;
    second.cases[0].reason = "assertion failed: wall_time.median < 5s";
    made = merged({first, second});
    CHECK(made->assertions[0].outcome == AssertionOutcome::passed);
    CHECK(made->assertions[0].actual == 1);
    CHECK(made->cases[0].status == model::Status::ok);
    CHECK(made->cases[0].reason.empty());
}

TEST_CASE("what one part could not evaluate is answered by another, or by all together", "[unit]")
{
    const auto open = [](std::string expression, const char* mode) {
        model::AssertionResult made = claim("", std::move(expression), false);
        made.outcome = AssertionOutcome::not_evaluated;
        made.reason = "not measured";
        made.where = {{"mode", std::string{mode}}};
        return made;
    };
    model::RunReport first = result("r1", {timed("a", {1, 2})});
    model::RunReport second = result("r2", {timed("b", {3, 4})});
    first.assertions = {open("wall_time.max < 9s", "b"), open("wall_time.max < 9s", "c")};
    second.assertions = {claim("demo/mode=b", "wall_time.max < 9s", true), open("wall_time.max < 9s", "c")};
    second.assertions[0].where = first.assertions[0].where;
    model::AssertionResult ratio = open("ratio(wall_time.max, mode=b, mode=a) <= 2", "a");
    ratio.where.clear();
    first.assertions.push_back(ratio);
    second.assertions.push_back(ratio);
    const auto made = merged({first, second});
    REQUIRE(made);
    REQUIRE(made->assertions.size() == 3);
    CHECK(made->assertions[0].outcome == AssertionOutcome::not_evaluated);
    CHECK(made->assertions[0].reason == "no case of this run has mode=c");
    CHECK(made->assertions[1].outcome == AssertionOutcome::passed);
    CHECK(made->assertions[1].actual == 2);
    CHECK(made->assertions[2].case_id == "demo/mode=b");
}

TEST_CASE("noise is judged anew, other warnings are kept once", "[unit]")
{
    model::RunReport first = result("r1", {timed("a", {1, 2, 1})});
    first.warnings = {{"few-repetitions", "demo/mode=a: wall_time has 3 values", ""}, {"slow-build", "Debug", ""}};
    model::RunReport second = result("r2", {timed("a", {1, 2, 1})});
    second.warnings = first.warnings;
    const auto made = merged({first, second});
    REQUIRE(made);
    const auto count_of = [&](std::string_view code) {
        return std::ranges::count(made->warnings, code, &model::Warning::code);
    };
    CHECK(count_of("slow-build") == 1);
    CHECK(count_of("few-repetitions") == 0);
}

TEST_CASE("claims about two cases are told apart by the cases they were written for", "[unit]")
{
    const auto pair = [](const char* size, double a, double b) {
        std::vector<model::CaseReport> cases{timed("a", {a}), timed("b", {b})};
        for (model::CaseReport& one : cases) {
            one.params.push_back({"size", std::string{size}});
            one.id += std::string{"/size="} + size;
        }
        return cases;
    };
    std::vector<model::CaseReport> cases = pair("1", 4, 1);
    std::ranges::move(pair("2", 1, 1), std::back_inserter(cases));
    model::RunReport first = result("r1", cases);
    for (const char* size : {"1", "2"}) {
        first.assertions.push_back(claim("", "ratio(wall_time.max, mode=a, mode=b) < 2", size == std::string{"2"}));
        first.assertions.back().where = {{"size", std::string{size}}};
    }
    model::RunReport second = result("r2", pair("2", 9, 1));
    const auto made = merged({first, second});
    REQUIRE(made);
    REQUIRE(made->assertions.size() == 2);
    CHECK(made->assertions[0].actual == 4);
    CHECK(made->assertions[1].actual == 9);  // again, over the cases that it was written for alone
    CHECK(made->assertions[1].outcome == AssertionOutcome::failed);
}

// Whose cost was the product of both: this did not end within an hour.
TEST_CASE("a claim about each of 90,000 cases and about each of their pairs is judged again", "[unit][campaign]")
{
    constexpr int pairs = tests::sanitized ? 4'500 : 45'000;
    const auto part = [](std::string id, double seconds) {
        model::RunReport one = result(std::move(id), {});
        for (int n = 0; n < pairs; ++n) {
            for (const char* mode : {"a", "b"}) {
                model::CaseReport& added = one.cases.emplace_back(
                    case_report({{"mode", mode}, {"n", std::to_string(n)}}, {metric("wall_time", {seconds})}));
                added.repetitions = added.planned_repetitions = 1;
                one.assertions.push_back(claim(added.id, "wall_time.max < 2s", seconds < 2));
                one.warnings.push_back({"sweep-cut-short", added.id, ""});
            }
            one.assertions.push_back(
                claim("", fmt::format("ratio(wall_time.max, mode=a, mode=b) < 2 (n={})", n), true));
        }
        return one;
    };
    const auto made = merged({part("r1", 1), part("r2", 3)});
    REQUIRE(made);
    CHECK(made->cases.size() == 2 * pairs);
    CHECK(made->warnings.size() >= 2 * pairs);
    REQUIRE(made->assertions.size() == 3 * pairs);
    const auto judged = [&](double actual, AssertionOutcome outcome) {
        return std::ranges::count_if(made->assertions, [&](const model::AssertionResult& one) {
            return one.actual == actual && one.outcome == outcome;
        });
    };
    CHECK(judged(3, AssertionOutcome::failed) == 2 * pairs);
    CHECK(judged(1, AssertionOutcome::passed) == pairs);
}
