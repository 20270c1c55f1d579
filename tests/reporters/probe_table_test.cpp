#include "reporters/document/run_tables.hpp"

#include "core/measure/summary.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using reporters::Table;

namespace {

model::CaseReport case_of(const char* scenario, std::vector<model::Param> params, const char* metric,
                          std::vector<double> values)
{
    model::CaseReport report;
    report.scenario = scenario;
    report.params = std::move(params);
    report.id = model::case_id(report.scenario, report.params);
    report.repetitions = static_cast<std::uint32_t>(values.size());
    report.facts = {{"pages_got", std::string{"4 KiB"}}};
    const bool is_rate = std::string_view{metric} == "bandwidth";
    model::Metric made{.name = metric,
                       .unit = is_rate ? model::Unit::bytes_per_second : model::Unit::seconds,
                       .values = {values.begin(), values.end()}};
    made.summary = measure::summarize(made.values);
    report.metrics = {std::move(made)};
    return report;
}

model::CaseReport latency(std::int64_t bytes, std::vector<double> values)
{
    return case_of("probe_latency", {{"pages", std::string{"thp"}}, {"size", bytes}}, "latency", std::move(values));
}

std::vector<std::string> column(const Table& table, std::string_view title)
{
    const auto at = std::ranges::find(table.columns, title, &reporters::Column::title);
    std::vector<std::string> texts;
    for (const auto& row : table.rows) {
        texts.push_back(at == table.columns.end() ? "no such column"
                                                  : row[static_cast<std::size_t>(at - table.columns.begin())].text);
    }
    return texts;
}

}  // namespace

TEST_CASE("a probe's table shows the least of a latency's samples, and says so", "[unit]")
{
    const std::vector reports{latency(4 << 20, {30e-9, 60e-9, 70e-9}), latency(64 << 20, {100e-9, 101e-9, 102e-9})};
    const Table table = reporters::figures_table({&reports[0], &reports[1]});
    CHECK(column(table, "latency") == std::vector<std::string>{"30.0 ns", "100.0 ns"});
    CHECK_THAT(table.note, Catch::Contains("latency: least of the samples"));
    CHECK(column(table, "impossible").front() == "no such column");
}

TEST_CASE("a probe's table flags what no memory does beside its row", "[unit]")
{
    const std::vector<double> six(6, 1.0);
    const auto times = [&](double value) {
        std::vector<double> values = six;
        std::ranges::for_each(values, [&](double& one) { one *= value; });
        return values;
    };
    const std::vector sets{latency(4 << 20, times(1090e-9)), latency(64 << 20, times(117e-9))};
    const Table table = reporters::figures_table({&sets[0], &sets[1]});
    CHECK(column(table, "impossible") == std::vector<std::string>{"slower than at 64MiB", ""});
    CHECK(table.rows[0].back().tone == reporters::Tone::caution);

    const auto chains = [&](std::int64_t count, double rate) {
        return case_of("probe_parallel_loads", {{"chains", count}}, "bandwidth", times(rate));
    };
    const std::vector loads{chains(1, 1e9), chains(4, 3.9e9), chains(16, 23e9)};
    const Table rates = reporters::figures_table({&loads[0], &loads[1], &loads[2]});
    CHECK(column(rates, "impossible") == std::vector<std::string>{"", "", "23 times one chain"});
    CHECK_THAT(rates.note, !Catch::Contains("least"));
}

TEST_CASE("a matrix of latencies shows the least of the samples, one of rates the median", "[unit]")
{
    const auto place = [](const char* kernel, const char* metric, std::vector<double> values) {
        return case_of("probe_numa",
                       {{"cpu_node", std::int64_t{0}}, {"kernel", std::string{kernel}}, {"mem_node", std::int64_t{0}}},
                       metric, std::move(values));
    };
    const std::vector reports{place("latency", "latency", {90e-9, 500e-9, 600e-9}),
                              place("read", "bandwidth", {1e9, 2e9, 9e9})};
    const auto matrices = measure::place_matrices(reports);
    REQUIRE(matrices.size() == 2);
    CHECK(matrices[0].cells[0][0].value == 500e-9);  // as in the JSON
    CHECK(reporters::matrix_table(matrices[0]).rows[0].back().text == "90.0 ns");
    CHECK_THAT(reporters::matrix_table(matrices[0]).note, Catch::Contains("least of the samples"));
    CHECK(reporters::matrix_table(matrices[1]).rows[0].back().text == "2.00 GB/s");
}
