#include "core/measure/cases.hpp"

#include "core/measure/comparison.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/time_contrast.hpp"
#include "reporters/wording/case_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"
#include "tests/support/catch.hpp"

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

model::CaseReport pair_case(std::int64_t cpu, std::int64_t mem, const std::string& kernel, std::optional<double> value)
{
    model::CaseReport report;
    report.scenario = "probe_numa";
    report.params = {{"cpu_node", cpu}, {"kernel", kernel}, {"mem_node", mem}};
    if (!value) {
        report.status = model::Status::skipped;
        report.reason = "no memory";
        return report;
    }
    model::Metric metric{.name = kernel == "latency" ? "latency" : "bandwidth"};
    metric.unit = kernel == "latency" ? model::Unit::seconds : model::Unit::bytes_per_second;
    metric.better = kernel == "latency" ? model::Better::lower : model::Better::higher;
    metric.values = {*value};
    metric.summary = measure::summarize(metric.values);
    report.metrics.push_back(metric);
    report.repetitions = 1;
    return report;
}

}  // namespace

TEST_CASE("cases of two results pair by id, not by order", "[unit]")
{
    const std::vector base{case_report({{"mode", "a"}}, {}), case_report({{"mode", "b"}}, {})};
    const std::vector candidate{case_report({{"mode", "c"}}, {}), case_report({{"mode", "a"}}, {})};
    const auto pairs = pair_by_id(base, candidate);
    REQUIRE(pairs.size() == 3);
    CHECK(pairs[0].base == &base[0]);
    CHECK(pairs[0].candidate == &candidate[1]);
    CHECK(pairs[1].base == &base[1]);
    CHECK(pairs[1].candidate == nullptr);
    CHECK(pairs[2].base == nullptr);
    CHECK(pairs[2].candidate == &candidate[0]);
}

TEST_CASE("the same id in another scenario is another case", "[unit]")
{
    const std::vector base{case_report({}, {})};
    std::vector candidate{case_report({}, {})};
    candidate[0].scenario = "other";
    CHECK(pair_by_id(base, candidate).size() == 2);
}

TEST_CASE("cases of two axis values pair when the rest is equal", "[unit]")
{
    const std::vector cases{
        case_report({{"mode", "refcount"}, {"size", "1"}}, {}), case_report({{"mode", "refcount"}, {"size", "2"}}, {}),
        case_report({{"mode", "finalizer"}, {"size", "2"}}, {}), case_report({{"mode", "leak"}, {"size", "1"}}, {})};
    const auto pairs = pair_by_value(cases, {"mode", "refcount"}, {"mode", "finalizer"});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].base == &cases[1]);
    CHECK(pairs[0].candidate == &cases[2]);
    CHECK(pair_by_value(cases, {"mode", "refcount"}, {"mode", "nothing"}).empty());
}

// By looking for each among all: minutes.
TEST_CASE("90,000 cases pair and make groups", "[unit][campaign]")
{
    constexpr std::size_t pairs = 45'000;
    std::vector<model::CaseReport> cases;
    for (std::size_t n = 0; n < pairs; ++n) {
        for (const char* mode : {"refcount", "finalizer"}) {
            cases.push_back(case_report({{"mode", mode}, {"n", std::to_string(n)}}, {}));
        }
    }
    const auto paired = pair_by_value(cases, {"mode", std::string{"refcount"}}, {"mode", std::string{"finalizer"}});
    REQUIRE(paired.size() == pairs);
    CHECK(paired.back().base == &cases[2 * pairs - 2]);
    CHECK(paired.back().candidate == &cases[2 * pairs - 1]);
    const auto groups = mode_groups(cases);
    REQUIRE(groups.size() == pairs);
    CHECK(groups.back().base == &cases[2 * pairs - 2]);
}

TEST_CASE("values of two different axes pair over the remaining ones, never with themselves", "[unit]")
{
    const std::vector cases{case_report({{"a", "1"}, {"b", "1"}, {"c", "x"}}, {}),
                            case_report({{"a", "1"}, {"b", "2"}, {"c", "x"}}, {}),
                            case_report({{"a", "2"}, {"b", "2"}, {"c", "y"}}, {})};
    const auto pairs = pair_by_value(cases, {"a", "1"}, {"b", "2"});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].base == &cases[0]);
    CHECK(pairs[0].candidate == &cases[1]);
}

TEST_CASE("parameters are named by name", "[unit]")
{
    const auto report = case_report({{"b", "2"}, {"a", "1"}, {"mode", "m"}}, {});
    CHECK(params_without(report, std::vector<std::string_view>{"mode"}) == std::vector<std::string>{"a=1", "b=2"});
    CHECK(has_value(report, {"a", "1"}));
    CHECK_FALSE(has_value(report, {"a", "2"}));
    CHECK_FALSE(has_value(report, {"z", "1"}));
}

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
    CHECK_THAT(sentence(comparison->findings.front()), Catch::Contains("page faults explain 75 %"));
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

TEST_CASE("cases of pairs make a matrix for each kernel", "[unit]")
{
    const auto matrices = measure::place_matrices({pair_case(0, 0, "read", 10), pair_case(0, 2, "read", 6),
                                                   pair_case(1, 0, "read", 5), pair_case(0, 0, "latency", 1e-7),
                                                   pair_case(1, 2, "read", std::nullopt), model::CaseReport{}});
    REQUIRE(matrices.size() == 2);
    const measure::PlaceMatrix& read = matrices[0];
    CHECK(read.name == "numa_read");
    CHECK(read.unit == model::Unit::bytes_per_second);
    CHECK(read.rows == std::vector<std::string>{"node0", "node1"});
    CHECK(read.cols == std::vector<std::string>{"node0", "node2"});
    CHECK(read.cells[0][0].value == 10);
    CHECK(read.cells[0][1].value == 6);
    CHECK(read.cells[1][0].value == 5);
    CHECK_FALSE(read.cells[1][1].value);
    CHECK(reporters::no_value_text(read.cells[1][1]) == "no memory");
    CHECK(matrices[1].name == "numa_latency");
    CHECK(matrices[1].unit == model::Unit::seconds);
    CHECK(matrices[1].better == model::Better::lower);
}

TEST_CASE("a pair without a case says so", "[unit]")
{
    const auto matrices = measure::place_matrices({pair_case(0, 0, "read", 1), pair_case(1, 1, "read", 2)});
    REQUIRE(matrices.size() == 1);
    CHECK_FALSE(matrices[0].cells[0][1].value);
    CHECK(reporters::no_value_text(matrices[0].cells[0][1]) == "no case for this pair");
}
