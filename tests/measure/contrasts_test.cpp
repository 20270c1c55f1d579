#include "core/measure/contrasts.hpp"

#include "reporters/wording/case_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using model::CaseReport;

namespace {

CaseReport placed(const char* placement, const char* label, const std::vector<double>& times, double faults,
                  const char* mode = "refcount")
{
    return case_report({{"case", label}, {"mode", mode}, {"placement", placement}},
                       {metric("time_per_op", times), metric("faults_per_op", {faults})});
}

std::vector<PlacementContrast> contrasts(const std::vector<CaseReport>& cases)
{
    std::vector<const CaseReport*> pointers;
    for (const CaseReport& one : cases) {
        pointers.push_back(&one);
    }
    return placement_contrasts(pointers);
}

std::vector<std::string> placement_texts(const std::vector<CaseReport>& cases)
{
    model::RunReport report;
    report.cases = cases;
    std::vector<Finding> found = findings(report);
    std::erase_if(found, [](const Finding& finding) { return finding.kind != FindingKind::placement_cost; });
    return sentences(found);
}

}  // namespace

TEST_CASE("a case in a sweep is set against its like alone", "[unit]")
{
    const std::vector cases{placed("alone", "x", {1e-3}, 10),   placed("alone", "y", {2e-3}, 10),
                            placed("sweep", "x", {3e-3}, 4010), placed("drain", "x", {1e-3}, 10),
                            placed("sweep", "z", {1e-3}, 10),   placed("sweep", "y", {2e-3}, 10, "leak")};
    const auto all = contrasts(cases);
    REQUIRE(all.size() == 2);  // z has no like; nor has y under leak
    CHECK(all[0].alone == &cases[0]);
    CHECK(all[0].placed == &cases[2]);
    CHECK(all[1].placed == &cases[3]);
    CHECK_THAT(all[0].ratio->estimate, Catch::WithinRel(3.0, 1e-9));
    CHECK_THAT(all[0].seconds_per_fault.value(), Catch::WithinRel(0.5e-6, 1e-9));
    CHECK(all[0].without == NoPrice::none);
    CHECK(all[1].without == NoPrice::faults_alike);
}

TEST_CASE("a time per fault is given only where faults and time point one way", "[unit]")
{
    const auto reason = [](double time, double faults) {
        const std::vector cases{placed("alone", "x", {2e-3}, 100), placed("sweep", "x", {time}, faults)};
        const auto all = contrasts(cases);
        CHECK(all.front().seconds_per_fault.has_value() == reporters::no_price_text(all.front()).empty());
        return reporters::no_price_text(all.front());
    };
    CHECK(reason(3e-3, 200).empty());
    CHECK(reason(1e-3, 50).empty());
    CHECK(reason(3e-3, 100.5) == "the faults do not differ");
    CHECK(reason(1e-3, 200) == "more faults, but no more time");
    CHECK(reason(3e-3, 50) == "fewer faults, but no less time");
}

TEST_CASE("what was not measured says why", "[unit]")
{
    CaseReport skipped = case_report({{"case", "x"}, {"mode", "refcount"}, {"placement", "sweep"}}, {});
    skipped.status = model::Status::skipped;
    skipped.reason = "the worker of its sweep was lost";
    const std::vector cases{placed("alone", "x", {1e-3}, 10), skipped};
    const auto all = contrasts(cases);
    REQUIRE(all.size() == 1);
    CHECK_FALSE(all[0].ratio.has_value());
    CHECK(reporters::no_price_text(all[0]) == "sweep is skipped: the worker of its sweep was lost");
}

TEST_CASE("one sentence per mode and placement, by geometric mean", "[unit]")
{
    const std::vector cases{placed("alone", "x", {1e-3}, 10),          placed("alone", "y", {1e-3}, 10),
                            placed("sweep", "x", {2e-3}, 10),          placed("sweep", "y", {8e-3}, 10),
                            placed("alone", "x", {1e-3}, 10, "leak"),  placed("sweep", "x", {1e-3}, 10, "leak"),
                            placed("drain", "x", {1.5e-3}, 10, "leak")};
    CHECK(placement_texts(cases) ==
          std::vector<std::string>{"refcount in a sweep: 4.0x the time alone over 2 cases (geometric mean), from 2.0x "
                                   "(case=x) to 8.0x (case=y)",
                                   "leak in a sweep: the time that it takes alone (case=x)",
                                   "leak in a drained sweep: 1.50x the time alone (case=x)"});
}

TEST_CASE("the case that a sweep slows down most is reported with its cause, where enough repetitions show it",
          "[unit]")
{
    const auto repeated = [](const char* placement, double time, double fault_time, double faults) {
        const std::vector<double> times(8, time);
        return case_report({{"case", "x"}, {"mode", "refcount"}, {"placement", placement}},
                           {metric("time_per_op", times), metric("wall_time", times), metric("operations", {1.0}),
                            metric("faults_per_op", {faults}), metric("fault_time", {fault_time})});
    };
    const std::vector cases{repeated("alone", 1e-3, 0, 10), repeated("sweep", 3e-3, 1.8e-3, 1010)};
    CHECK(placement_texts(cases) ==
          std::vector<std::string>{
              "refcount in a sweep: 3.0x the time alone (case=x); in case=x page faults explain 90 % "
              "of the extra time (1,000 more faults per array at 1.80 us each); 10 % is "
              "unexplained"});
}
