#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "reporters/ci/ci_formats.hpp"
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

model::RunReport report_with_phases(const std::vector<std::pair<double, double>>& times)
{
    model::RunReport report;
    model::CaseReport& one = report.cases.emplace_back();
    for (const auto& [start, end] : times) {
        one.phases.push_back({.repetition = 0, .name = "p", .start = start, .end = end});
    }
    return report;
}

// The track of each phase, counted from that of the first.
std::vector<int> lanes(const std::vector<std::pair<double, double>>& times)
{
    std::vector<int> all;
    const Unordered json = trace(report_with_phases(times));
    for (const Unordered& event : json["traceEvents"]) {
        if (event["ph"] == "X" && event["name"] == "p") {
            all.push_back(event["tid"].get<int>() - 2);
        }
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
    double end = -1;
    const Unordered json = trace(sample_report());
    for (const Unordered& event : json["traceEvents"]) {
        if (event["ph"] == "X" && event["pid"] == 1 && event["tid"] == 1) {
            CHECK(event["ts"].get<double>() > end);
            end = event["ts"].get<double>() + event["dur"].get<double>();
        }
    }
    CHECK(end > 0);
}

TEST_CASE("phases that overlap lie on tracks of their own", "[unit]")
{
    CHECK(lanes({{0, 1}, {1, 2}, {2, 3}}) == std::vector<int>{0, 0, 0});
    CHECK(lanes({{0, 10}, {1, 2}, {3, 9}, {4, 5}}) == std::vector<int>{0, 0, 0, 0});
    CHECK(lanes({{0, 9.9}, {0.1, 10}}) == std::vector<int>{0, 1});
    CHECK(lanes({{0, 2}, {1, 3}, {2, 4}, {2.5, 3.5}}) == std::vector<int>{0, 1, 0, 0});
}

TEST_CASE("a time that is none has no place in a trace", "[unit]")
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(lanes({{-1, 1}, {nan, 1}, {0, infinity}, {1, 0.5}, {0, 1e300}, {0, 1}}).size() == 1);
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
