#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "reporters/ci/ci_formats.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

std::vector<std::string> lines(void (*write)(const model::RunReport&, TextSink&), const model::RunReport& report)
{
    std::istringstream text{whole_text([&](TextSink& sink) { write(report, sink); })};
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) {
        all.push_back(line);
    }
    return all;
}

std::string series_of(const std::string& line)
{
    return line.substr(0, line.rfind(' '));
}

bool has(const std::vector<std::string>& lines, const std::string& line)
{
    return std::ranges::find(lines, line) != lines.end();
}

}  // namespace

TEST_CASE("prom has medians in base units, labelled by scenario and axes", "[unit]")
{
    const auto text = lines(write_prom, sample_report());
    CHECK(has(text, "memsweep_minor_faults{scenario=\"finalizer_repro\",count=\"100\",mode=\"refcount\"} 195313"));
    CHECK(has(text, "# TYPE memsweep_wall_time_seconds gauge"));
    CHECK(has(text, "memsweep_last_run_timestamp_seconds{scenario=\"finalizer_repro\"} 1769860809.5"));
    CHECK(has(text, "memsweep_assertions_failed{scenario=\"finalizer_repro\"} 2"));
    CHECK(has(text, "memsweep_build_info{scenario=\"finalizer_repro\",version=\"0.1.0\",revision=\"1a2b3c4d5e6f\"} 1"));
    CHECK(std::ranges::none_of(text, [](const std::string& line) { return line.find("fault_cost") != line.npos; }));
    CHECK(
        std::ranges::none_of(text, [](const std::string& line) { return line.find("4f2a") != line.npos; }));  // run id
}

TEST_CASE("openmetrics names its units and ends with EOF", "[unit]")
{
    const auto text = lines(write_openmetrics, sample_report());
    CHECK(has(text, "# UNIT memsweep_wall_time_seconds seconds"));
    CHECK(has(text, "# UNIT memsweep_live_bytes_peak_bytes bytes"));
    CHECK_FALSE(has(text, "# UNIT memsweep_minor_faults "));
    CHECK(text.back() == "# EOF");
}

TEST_CASE("no unit is written twice into a name, and no name passes for another type", "[unit]")
{
    model::RunReport report = sample_report();
    auto& metrics = report.cases[0].metrics;
    metrics[0].name = "allocated_bytes";
    metrics[0].unit = model::Unit::bytes;
    metrics[1].name = "errors_total";
    metrics[1].unit = model::Unit::one;
    metrics[2].name = "a-b";
    metrics[3].name = "A_b";
    metrics[2].unit = metrics[3].unit = model::Unit::seconds;
    const auto text = lines(write_prom, report);
    for (const char* name : {"memsweep_allocated_bytes", "memsweep_errors_total_value", "memsweep_a_b_seconds",
                             "memsweep_a_b_2_seconds"}) {
        CHECK(has(text, fmt::format("# TYPE {} gauge", name)));
    }
}

TEST_CASE("labels keep their values, and no two cases have the same", "[unit]")
{
    model::RunReport report;
    report.cases.resize(3);
    for (model::CaseReport& one : report.cases) {
        one.scenario = "a\"b\\c\nd\xff";
        one.params = {{"le", std::int64_t{1}}, {"1 x", true}, {"1-x", false}};
        one.metrics = {sample_report().cases[0].metrics[0]};
    }
    const std::string labels =
        "{scenario=\"a\\\"b\\\\c\\nd\uFFFD\",axis_le=\"1\",axis_1_x=\"true\",axis_1_x_2=\"false\"";
    auto text = lines(write_prom, report);
    std::erase_if(text, [](const std::string& line) { return line.find("axis_le") == line.npos; });
    REQUIRE(text.size() == 3);
    CHECK(text[0].find(labels + "}") != std::string::npos);
    CHECK(text[1].find(labels + ",number=\"2\"}") != std::string::npos);
    CHECK(text[2].find(labels + ",number=\"3\"}") != std::string::npos);
}

TEST_CASE("hostile names make no line and no series of their own", "[unit]")
{
    for (const auto& write : {write_prom, write_openmetrics}) {
        const auto plain = lines(write, sample_report());
        const auto hostile = lines(write, hostile_report());
        CHECK(hostile.size() == plain.size());
        std::set<std::string> series;
        for (const std::string& line : hostile) {
            CHECK((line.starts_with("# ") || line.starts_with("memsweep_")));
            CHECK((line.starts_with("# ") || series.insert(series_of(line)).second));
        }
    }
}

}  // namespace memsweep::reporters
