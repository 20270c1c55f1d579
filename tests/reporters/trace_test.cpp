#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "reporters/ci/trace_writer.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Unordered = nlohmann::json;

Unordered trace(const model::RunReport& report)
{
    return Unordered::parse(whole_text([&](TextSink& sink) { write_trace(report, sink); }));
}

std::ptrdiff_t count_of(const Unordered& trace, const std::string& kind)
{
    const Unordered& events = trace["traceEvents"];
    return std::count_if(events.begin(), events.end(), [&](const Unordered& event) { return event["ph"] == kind; });
}

model::CaseReport case_with_phases(std::vector<std::pair<double, double>> times)
{
    model::CaseReport report;
    for (const auto& [start, end] : times) {
        report.phases.push_back({.repetition = 0, .name = "p", .start = start, .end = end});
    }
    return report;
}

std::vector<std::size_t> lanes(const model::CaseReport& report)
{
    std::vector<std::size_t> all;
    for (const PlacedPhase& placed : Timeline{report}.phases(report)) {
        all.push_back(placed.lane);
    }
    return all;
}

}  // namespace

TEST_CASE("a trace has phases, points and curves of every case that was measured", "[unit]")
{
    const Unordered json = trace(sample_report());
    CHECK(json["displayTimeUnit"] == "ms");
    CHECK(count_of(json, "X") == 2 * 6 * (4 + 1));
    CHECK(count_of(json, "i") == 2 * 6 * 4);
    CHECK(count_of(json, "C") >= 2 * 6 * (4 + 3));
    CHECK(json["otherData"]["Host"] == "bench-1");
}

TEST_CASE("repetitions follow each other in a trace", "[unit]")
{
    const model::RunReport report = sample_report();
    const Timeline timeline{report.cases[0]};
    std::int64_t end = -1;
    for (const auto& [repetition, span] : timeline.repetitions()) {
        CHECK(span.start_ns > end);
        end = span.end_ns;
    }
}

TEST_CASE("phases that overlap lie on tracks of their own", "[unit]")
{
    CHECK(lanes(case_with_phases({{0, 1}, {1, 2}, {2, 3}})) == std::vector<std::size_t>{0, 0, 0});
    CHECK(lanes(case_with_phases({{0, 10}, {1, 2}, {3, 9}, {4, 5}})) == std::vector<std::size_t>{0, 0, 0, 0});
    CHECK(lanes(case_with_phases({{0, 9.9}, {0.1, 10}})) == std::vector<std::size_t>{0, 1});
    CHECK(lanes(case_with_phases({{0, 2}, {1, 3}, {2, 4}, {2.5, 3.5}})) == std::vector<std::size_t>{0, 1, 0, 0});
}

TEST_CASE("a time that is none has no place in a trace", "[unit]")
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const model::CaseReport report = case_with_phases({{-1, 1}, {nan, 1}, {0, infinity}, {1, 0.5}, {0, 1e300}, {0, 1}});
    CHECK(Timeline{report}.phases(report).size() == 1);
}

TEST_CASE("hostile names are only names in a trace", "[unit]")
{
    const Unordered plain = trace(sample_report());
    const Unordered hostile = trace(hostile_report());
    CHECK(count_of(hostile, "X") == count_of(plain, "X"));
    CHECK(count_of(hostile, "M") == count_of(plain, "M"));
    CHECK(count_of(hostile, "C") < count_of(plain, "C"));  // what is no number
}

}  // namespace memsweep::reporters
