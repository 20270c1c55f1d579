#include "core/measure/replay_verdict.hpp"

#include <array>

#include "core/measure/findings.hpp"
#include "core/measure/summary.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using measure::ten;

namespace {

model::CaseReport replay_on(const std::string& allocator, const std::vector<double>& seconds,
                            const std::vector<double>& bytes)
{
    std::vector<model::Metric> metrics{measure::metric("time_per_event", seconds),
                                       measure::metric("working_set_peak_delta", bytes)};
    for (model::Metric& one : metrics) {
        one.summary = measure::summarize(one.values);
    }
    return measure::case_report({{"on", allocator}}, std::move(metrics));
}

std::string verdict_of(const std::vector<model::CaseReport>& cases)
{
    const auto sentences = measure::replay_sentences(cases);
    return sentences.empty() ? "" : sentences.front();
}

}  // namespace

TEST_CASE("a replay's verdict follows from the intervals alone", "[unit]")
{
    const auto small = measure::scaled(ten, 1e6);
    const auto large = measure::scaled(ten, 2e6);
    const auto fast = measure::scaled(ten, 1e-8);
    const auto slow = measure::scaled(ten, 2e-8);
    const auto hardly_slower = measure::scaled(ten, 1.001e-8);
    CHECK(verdict_of({replay_on("a", fast, small), replay_on("b", slow, large)}) ==
          "take a: no other is shown to be faster or to hold less");
    CHECK(verdict_of({replay_on("a", fast, small), replay_on("b", hardly_slower, small)}) ==
          "no verdict: no difference between a and b is shown in time or in memory");
    CHECK(
        verdict_of({replay_on("a", fast, small), replay_on("b", hardly_slower, small), replay_on("c", slow, large)}) ==
        "take either of a and b: no other is shown to be faster or to hold less, and between them no difference is "
        "shown");
    CHECK(verdict_of({replay_on("a", fast, large), replay_on("b", slow, small)}) ==
          "none is best at both: take a for time, or b for memory; b takes 2.0 times the time of a and holds 0.50 "
          "times the memory");
}

TEST_CASE("a device's memory is in no working set, so times alone are weighed", "[unit]")
{
    const auto none = measure::scaled(ten, 1e3);
    const auto large = measure::scaled(ten, 2e6);
    const auto fast = measure::scaled(ten, 1e-8);
    const auto slow = measure::scaled(ten, 2e-8);
    for (const char* device : {"device", "pool@device", "tlsf@device@gpu1", "stream_ordered"}) {
        const auto sentences = measure::replay_sentences(
            std::vector{replay_on("pool@pinned", fast, large), replay_on(device, slow, none)});
        REQUIRE(sentences.size() == 2);
        CHECK(sentences[0] == "take pool@pinned: no other is shown to be faster; memory is not weighed, since a "
                              "device's is in no working set");
        CHECK(sentences[1].find("holds") == std::string::npos);
    }
    CHECK(verdict_of({replay_on("device", fast, none), replay_on("pool@device", fast, large)})
              .starts_with("no verdict: no difference between device and pool@device is shown in time; "));
    for (const char* host : {"pinned", "pool@pinned@gpu0", "managed", "jemalloc", "/opt/device"}) {
        CHECK_FALSE(measure::is_on_device(replay_on(host, fast, none)));
    }
}

namespace {

model::CaseReport looked_at(const std::string& allocator, double seconds, std::array<double, 3> bytes, double bound = 1)
{
    std::vector<model::Metric> metrics{measure::metric("time_per_event", measure::scaled(ten, seconds)),
                                       measure::metric("working_set_peak_delta", measure::scaled(ten, 1e6)),
                                       measure::metric("resident_peak", measure::scaled(ten, bytes[0])),
                                       measure::metric("resident_end", measure::scaled(ten, bytes[1])),
                                       measure::metric("resident_idle", measure::scaled(ten, bytes[2])),
                                       measure::metric("live_bytes_peak", measure::scaled(ten, 1e7)),
                                       measure::metric("live_bytes_bound", measure::scaled(ten, 1e7 * bound))};
    for (model::Metric& one : metrics) {
        one.summary = measure::summarize(one.values);
    }
    return measure::case_report({{"on", allocator}}, std::move(metrics));
}

}  // namespace

TEST_CASE("a verdict weighs memory at the peak, at the end and after idling", "[unit]")
{
    CHECK(verdict_of({looked_at("a", 1e-8, {1e7, 1e7, 1e7}), looked_at("b", 1e-8, {1e7, 2e7, 1e7})}) ==
          "take a: no other is shown to be faster or to hold less");
    CHECK(verdict_of({looked_at("a", 1e-8, {1e7, 1e7, 3e7}), looked_at("b", 1e-8, {1e7, 2e7, 1e7})}) ==
          "none is best at all: take a and b for time, a and b for memory at the peak, a for memory at the end, b for "
          "memory after idling");
}

TEST_CASE("memory is not weighed where more may be live than was recorded", "[unit]")
{
    CHECK(verdict_of({looked_at("a", 1e-8, {1e7, 1e7, 1e7}), looked_at("b", 1e-8, {1e7, 2e7, 1e7}, 1.2)})
              .starts_with("no verdict: no difference between a and b is shown in time; memory is not weighed"));
}

TEST_CASE("too few repetitions and a single case have no verdict", "[unit]")
{
    const std::vector<double> one{1e-8};
    const std::vector<double> bytes{1e6};
    CHECK(verdict_of({replay_on("a", one, bytes), replay_on("b", {2e-8}, bytes)})
              .starts_with("no verdict: a has 1 repetition, too few for an interval"));
    CHECK(verdict_of({replay_on("a", one, bytes), replay_on("null", one, bytes)}).empty());
}

TEST_CASE("a busy machine and a replay's verdict are findings, the former first", "[unit]")
{
    model::RunReport report;
    report.cases = {replay_on("a", ten, ten), replay_on("b", ten, ten)};
    report.warnings.push_back({std::string{measure::busy_machine_code}, "not trustworthy here", ""});
    const auto found = measure::findings(report);
    REQUIRE(found.size() >= 2);
    CHECK(measure::sentence(found[0]) == "not trustworthy here");
    CHECK(measure::sentence(found[1]) == measure::replay_sentences(report.cases).front());
}
