#include "core/measure/findings.hpp"

#include <algorithm>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using model::CaseReport;
using model::Status;

namespace {

const std::vector<double> spread{0.97, 0.98, 0.99, 0.995, 1.0, 1.0, 1.005, 1.01, 1.02, 1.03};

std::vector<double> around(double median)
{
    std::vector<double> values;
    for (const double factor : spread) {
        values.push_back(median * factor);
    }
    return values;
}

CaseReport mode(const char* name, double time_per_op, std::vector<model::Metric> more = {})
{
    more.push_back(metric("time_per_op", around(time_per_op)));
    return case_report({{"mode", name}}, std::move(more));
}

void sample(CaseReport& report, const char* name, std::optional<double> floating, std::optional<double> delta)
{
    report.points.push_back(point(0, name));
    report.points.back().floating_bytes = floating;
    report.points.back().working_set_delta = delta;
}

std::vector<Finding> findings_of(std::vector<CaseReport> cases)
{
    model::RunReport report;
    report.cases = std::move(cases);
    return findings(report);
}

std::string only(std::vector<CaseReport> cases)
{
    const auto found = findings_of(std::move(cases));
    REQUIRE(found.size() == 1);
    CHECK(found[0].importance == Importance::note);
    return sentence(found[0]);
}

constexpr double mib = 1024 * 1024;

}  // namespace

TEST_CASE("a slower mode is reported with its interval and what faults explain", "[unit]")
{
    const std::vector cases{
        mode("refcount", 0.3e-3, {metric("faults_per_op", around(0.01)), metric("fault_cost", around(0.8e-6))}),
        mode("finalizer", 2.16e-3, {metric("faults_per_op", around(1953)), metric("fault_cost", around(0.8e-6))})};
    CHECK_THAT(only(cases),
               StartsWith("finalizer: 7.2x the time per array of refcount (95 % interval 7.1 to 7.3); page faults "
                          "explain 84 % of the extra time (1,953.0 more faults per array at 800.0 ns each); 16 % is "
                          "unexplained"));
}

TEST_CASE("faults do not explain more than they cost", "[unit]")
{
    const auto with_faults = [](const char* name, double time, double faults) {
        return mode(name, time, {metric("faults_per_op", around(faults)), metric("fault_cost", around(1e-6))});
    };
    CHECK_THAT(only({with_faults("refcount", 1e-3, 10), with_faults("finalizer", 2e-3, 10)}), Contains("explain none"));
    CHECK_THAT(only({with_faults("refcount", 1e-3, 0), with_faults("finalizer", 2e-3, 1100)}),
               Contains("explain all of the extra time") &&
                   Contains("1,100 more faults per array at 1.00 us each come to 110 % of it"));
    CHECK_THAT(only({with_faults("refcount", 1e-3, 0), with_faults("finalizer", 2e-3, 1630)}),
               Contains("the machine was too busy to split the extra time") && Contains("163 %"));
    CHECK_THAT(only({with_faults("refcount", 2e-3, 0), with_faults("finalizer", 1e-3, 500)}), !Contains("page faults"));
    CHECK_THAT(only({mode("refcount", 1e-3), mode("finalizer", 2e-3)}), !Contains("page faults"));
}

TEST_CASE("no difference is not called one", "[unit]")
{
    CHECK_THAT(only({mode("refcount", 1), mode("finalizer", 1.001)}),
               StartsWith("finalizer: the same time per array as refcount (95 % interval 0.98 to 1.0"));
    CaseReport wild = case_report({{"mode", "finalizer"}}, {metric("time_per_op", {0.5, 1.5, 0.7, 1.3, 1.0, 1.1})});
    CHECK_THAT(only({mode("refcount", 1), wild}), Contains("time per array is not shown to differ from refcount's"));
    CaseReport few = case_report({{"mode", "finalizer"}}, {metric("wall_time", {2})});
    CaseReport base = case_report({{"mode", "refcount"}}, {metric("wall_time", {1})});
    CHECK(only({base, few}) == "finalizer: 2.0x the time of refcount (too few repetitions for an interval)");
}

TEST_CASE("memory held after a drop is reported with when it was released", "[unit]")
{
    CaseReport base = case_report({{"mode", "refcount"}}, {});
    CaseReport finalizer = case_report({{"mode", "finalizer"}}, {metric("drain_time", {0.018})});
    for (CaseReport* report : {&base, &finalizer}) {
        const bool late = report == &finalizer;
        sample(*report, "after_alloc", 0, 763 * mib);
        sample(*report, "after_drop", late ? 762.9 * mib : 0, late ? 763 * mib : 0);
        sample(*report, "after_collect", late ? 762.9 * mib : 0, late ? 763 * mib : 0);
        sample(*report, "after_drain", 0, 0);
    }
    // That it was the drain is not known: both samples stand beside it.
    CHECK(only({base, finalizer}) ==
          "finalizer: holds 762.9 MiB after drop and still 762.9 MiB after collect; released "
          "between the samples after_collect and after_drain (drains took 18.0 ms)");
    finalizer.points.pop_back();
    finalizer.points.erase(finalizer.points.begin() + 2);
    CHECK(only({base, finalizer}) == "finalizer: holds 762.9 MiB after drop");
    finalizer.points.back().working_set_delta = 0;
    CHECK(only({base, finalizer}) == "finalizer: holds 762.9 MiB after drop (only 0 B resident)");
}

TEST_CASE("without exact counters the working set above the base shows what is held", "[unit]")
{
    CaseReport base = case_report({{"mode", "refcount"}}, {});
    CaseReport leak = case_report({{"mode", "leak"}}, {});
    sample(base, "end", {}, 2 * mib);
    sample(leak, "end", {}, 102 * mib);
    CHECK(only({base, leak}) == "leak: holds 100.0 MiB more than refcount at end");
    leak.points[0].working_set_delta = 2.5 * mib;
    CHECK(findings_of({base, leak}).empty());
}

TEST_CASE("peaks are reported when they differ", "[unit]")
{
    const auto peaks = [](const char* name, double working_set, double floating) {
        return case_report({{"mode", name}}, {metric("working_set_peak", {working_set * mib}),
                                              metric("floating_bytes_peak", {floating * mib})});
    };
    CHECK(only({peaks("refcount", 12, 0), peaks("finalizer", 789, 760)}) ==
          "finalizer: up to 760.0 MiB dropped but not yet released; working set peak 789.0 MiB against refcount's 12.0 "
          "MiB");
    CHECK(findings_of({peaks("refcount", 12, 0), peaks("finalizer", 12.5, 0)}).empty());
}

TEST_CASE("only cases that differ in nothing but the mode are set side by side", "[unit]")
{
    const auto sized = [](const char* name, const char* size, double time) {
        CaseReport report = mode(name, time);
        report.params.push_back({"size", std::string{size}});
        return report;
    };
    const auto found =
        findings_of({sized("leak", "1", 4), sized("refcount", "1", 1), sized("leak", "2", 9), sized("sweep", "2", 3)});
    REQUIRE(found.size() == 2);
    CHECK_THAT(sentence(found[0]), StartsWith("leak (size=1): 4.0x the time per array of refcount"));
    CHECK_THAT(sentence(found[1]), StartsWith("sweep (size=2): 0.33x the time per array of leak"));
    CHECK(findings_of({case_report({{"size", "1"}}, {metric("wall_time", {1})}), mode("refcount", 1)}).empty());
}

TEST_CASE("of many modes the largest differences are reported, the rest in one line", "[unit]")
{
    std::vector<CaseReport> cases;
    for (int i = 0; i < 12; ++i) {
        for (const char* name : {"refcount", "finalizer"}) {
            cases.push_back(mode(name, *name == 'r' ? 1 : 1.6 + i));
            cases.back().params.push_back({"size", std::int64_t{i}});
        }
    }
    const auto found = findings_of(cases);
    REQUIRE(found.size() == 9);
    CHECK_THAT(sentence(found[0]), StartsWith("finalizer (size=11): 13x"));
    CHECK(sentence(found[8]) == "4 more cases of other release modes: 1.60x to 4.6x the time of their base");
}

TEST_CASE("what went wrong comes first, what was left out last", "[unit]")
{
    model::RunReport report;
    report.cases = {mode("refcount", 1), mode("finalizer", 2), mode("leak", 1), mode("arena", 1), mode("sweep", 1)};
    report.cases[2].status = Status::skipped;
    report.cases[2].reason = "needs 2.00 GiB";
    report.cases[3].status = Status::timeout;
    report.cases[3].reason = "60 s";
    report.cases[4].status = Status::error;
    report.cases[4].reason = "signal 11";
    model::AssertionResult failed;
    failed.case_id = "demo/mode=finalizer";
    failed.expression = "after_drop.live_bytes.max == 0B";
    failed.actual = 762.9 * mib;
    failed.unit = model::Unit::bytes;
    model::AssertionResult warned = failed;
    warned.severity = model::Severity::warn;
    warned.actual.reset();
    warned.reason = "cpu_time was not measured";
    warned.case_id.clear();
    model::AssertionResult held = failed;
    held.outcome = model::AssertionOutcome::passed;
    report.assertions = {held, warned, failed};

    const auto found = findings(report);
    REQUIRE(found.size() == 6);
    CHECK(sentence(found[0]) == "demo/mode=sweep broke off: signal 11");
    CHECK(sentence(found[1]) == "demo/mode=arena timed out: 60 s");
    CHECK(sentence(found[2]) ==
          "after_drop.live_bytes.max == 0B does not hold for demo/mode=finalizer: it is 762.9 MiB");
    CHECK(found[2].importance == Importance::failure);
    CHECK(sentence(found[3]) == "after_drop.live_bytes.max == 0B cannot be judged: cpu_time was not measured");
    CHECK(found[3].importance == Importance::warning);
    CHECK_THAT(sentence(found[4]), StartsWith("finalizer: 2.0x"));
    CHECK(sentence(found[5]) == "demo/mode=leak skipped: needs 2.00 GiB");
    CHECK(found[5].importance == Importance::note);
}

TEST_CASE("what several cases share is reported once", "[unit]")
{
    model::RunReport report;
    for (const char* name : {"a", "b", "c"}) {
        report.cases.push_back(mode(name, 1));
        report.cases.back().status = Status::error;
        report.cases.back().reason = "out of memory";
        model::AssertionResult failed;
        failed.case_id = report.cases.back().id;
        failed.expression = "minor_faults.max < 5";
        failed.actual = 7;
        report.assertions.push_back(failed);
    }
    const auto found = findings(report);
    REQUIRE(found.size() == 2);
    CHECK(sentence(found[0]) == "3 cases broke off, first demo/mode=a: out of memory");
    CHECK(sentence(found[1]) == "minor_faults.max < 5 does not hold for 3 cases, first demo/mode=a (it is 7)");
    CHECK(findings({}).empty());
}

namespace {

CaseReport program(const char* name, double wall_time)
{
    CaseReport report = case_report({{"program", name}}, {metric("wall_time", around(wall_time))});
    report.metrics.front().summary = summarize(report.metrics.front().values);
    return report;
}

std::vector<Finding> findings_of_programs(std::vector<CaseReport> cases, std::optional<double> start)
{
    model::RunReport report;
    report.cases = std::move(cases);
    report.calibration.harness_seconds_per_run = start;
    return findings(report);
}

}  // namespace

TEST_CASE("of a short program it is said what of its time is its start", "[unit]")
{
    const auto found = findings_of_programs({program("a", 2e-3), program("b", 1)}, 400e-6);
    REQUIRE(found.size() == 1);
    CHECK(found[0].importance == Importance::note);
    CHECK(sentence(found[0]) ==
          "demo/program=a takes 2.00 ms, of which 400.0 us go into starting any program: the programs differ more than "
          "their wall_time");
}

TEST_CASE("of several short programs the shortest is named", "[unit]")
{
    const auto found = findings_of_programs({program("a", 2e-3), program("b", 1e-3), program("c", 3e-3)}, 400e-6);
    REQUIRE(found.size() == 1);
    CHECK_THAT(sentence(found[0]),
               StartsWith("demo/program=b takes 1.00 ms (the shortest of 3 cases so short), of which"));
}

TEST_CASE("a program as short as one that does nothing has no part of its own", "[unit]")
{
    const auto found = findings_of_programs({program("a", 420e-6)}, 400e-6);
    REQUIRE(found.size() == 1);
    CHECK_THAT(sentence(found[0]), Contains("takes 420.0 us, hardly more than starting any program does (400.0 us)"));
}

TEST_CASE("the start of a program costs no more than the shortest run that contains one", "[unit]")
{
    const auto price = [](std::vector<CaseReport> cases, std::optional<double> measured) {
        model::RunReport report;
        report.cases = std::move(cases);
        report.calibration.harness_seconds_per_run = measured;
        return start_price(report);
    };
    // Measured while something else ran: 11.1 ms, beside a program that takes 0.67.
    const std::vector both{program("a", 673.7e-6), program("b", 1)};
    const double least = std::ranges::min(present(both.front().metrics.front().values));
    CHECK(price(both, 11.1e-3) == least);
    CHECK(price(both, 400e-6) == 400e-6);
    CHECK_FALSE(price(both, std::nullopt));
    CHECK(price({}, 400e-6) == 400e-6);
    const auto found = findings_of_programs(both, 11.1e-3);
    REQUIRE(found.size() == 1);
    CHECK_THAT(sentence(found[0]),
               Contains("hardly more than starting any program does (" + base::format_duration(least) + ")"));
}

TEST_CASE("programs of a fair length, and without a figure of their start, are not called short", "[unit]")
{
    CHECK(findings_of_programs({program("a", 20 * 400e-6)}, 400e-6).empty());
    CHECK(findings_of_programs({program("a", 2e-3)}, std::nullopt).empty());
    CHECK(findings_of_programs({case_report({}, {}, Status::skipped)}, 400e-6).size() == 1);  // that it was skipped
}

TEST_CASE("factors are finer near 1", "[unit]")
{
    CHECK(format_factor(184544) == "184,544");
    CHECK(format_factor(153.4) == "153");
    CHECK(format_factor(7.24) == "7.2");
    CHECK(format_factor(1.999) == "2.0");
    CHECK(format_factor(1.042) == "1.04");
    CHECK(format_factor(0.714) == "0.71");
    CHECK(format_factor(0.0123) == "0.012");
}
