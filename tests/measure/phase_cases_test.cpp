#include "core/measure/phase_cases.hpp"

#include "core/measure/cases.hpp"
#include "core/measure/comparison.hpp"
#include "core/measure/time_contrast.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

// Eight repetitions: a warm phase of 1 ms, and one of 5 ms with 1,000 faults of 3 us.
model::RunReport with_phases()
{
    model::RunReport report;
    model::CaseReport one = case_report({{"mode", "refcount"}}, {metric("wall_time", std::vector<double>(8, 6e-3))});
    one.repetitions = 8;
    for (std::uint32_t i = 0; i < 8; ++i) {
        one.phases.push_back({i, "warm", 0, 1e-3, 1e-3, 1, 0, 0, 0.0, 0.0, std::nullopt});
        one.phases.push_back({i, "cold", 1e-3, 6e-3, 5e-3, 1, 1000, 0, 3e-3, 0.5e-3, std::nullopt});
    }
    report.cases.push_back(std::move(one));
    report.cases.push_back(case_report({{"mode", "leak"}}, {}, model::Status::skipped));
    return report;
}

}  // namespace

TEST_CASE("each phase of a case becomes a case with its time, faults and causes", "[unit]")
{
    const auto phases = by_phase(with_phases());
    REQUIRE(phases.cases.size() == 2);
    CHECK(phases.cases[0].id == "demo/mode=refcount/phase=warm");
    CHECK(phases.cases[1].id == "demo/mode=refcount/phase=cold");
    CHECK(case_median(phases.cases[1], {}, "wall_time") == 5e-3);
    CHECK(case_median(phases.cases[1], {}, "minor_faults") == 1000);
    CHECK_FALSE(case_median(phases.cases[1], {}, "collector_wait_time"));
    CHECK_FALSE(has_phase_axis(with_phases()));
    CHECK(has_phase_axis(phases));
}

TEST_CASE("the extra time of a phase is split into its causes", "[unit]")
{
    const auto phases = by_phase(with_phases());
    CHECK(cause_of(phases.cases[0], phases.cases[1]) ==
          "page faults explain 75 % of the extra time (1,000 more faults at 3.00 us each), calls into the allocator "
          "12 %; 12 % is unexplained");
}

TEST_CASE("two phases are compared as two values of an axis", "[unit]")
{
    const auto phases = by_phase(with_phases());
    const auto comparison = compare_families(phases, {"phase", "warm"}, {"phase", "cold"}, {});
    REQUIRE(comparison);
    REQUIRE(comparison->findings.size() == 1);
    CHECK_THAT(comparison->findings.front().text, Catch::Contains("page faults explain 75 %"));
    const auto unknown = compare_families(phases, {"phase", "warm"}, {"phase", "hot"}, {});
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Catch::Contains("phase=cold"));
}

TEST_CASE("a repetition that did not enter a phase has no values there", "[unit]")
{
    auto report = with_phases();
    std::erase_if(report.cases[0].phases,
                  [](const model::Phase& one) { return one.name == "cold" && one.repetition > 5; });
    const auto phases = by_phase(report);
    const auto times = case_values(phases.cases[1], {}, "wall_time");
    REQUIRE(times.size() == 8);
    CHECK(times[5] == 5e-3);
    CHECK_FALSE(times[6]);
}
