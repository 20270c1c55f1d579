#include "core/measure/place_matrix.hpp"

#include "core/measure/summary.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

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
    CHECK(read.cells[1][1].reason == "no memory");
    CHECK(matrices[1].name == "numa_latency");
    CHECK(matrices[1].unit == model::Unit::seconds);
    CHECK(matrices[1].better == model::Better::lower);
}

TEST_CASE("a pair without a case says so", "[unit]")
{
    const auto matrices = measure::place_matrices({pair_case(0, 0, "read", 1), pair_case(1, 1, "read", 2)});
    REQUIRE(matrices.size() == 1);
    CHECK_FALSE(matrices[0].cells[0][1].value);
    CHECK(matrices[0].cells[0][1].reason == "no case for this pair");
}
