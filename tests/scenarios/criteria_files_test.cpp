#include "scenarios/reader/criteria_files.hpp"

#include <filesystem>
#include <set>

#include "tests/support/catch.hpp"

namespace memsweep::scenarios {
namespace {

namespace fs = std::filesystem;

template <typename Loaded>
std::vector<std::string> errors_of(const Loaded& loaded)
{
    std::vector<std::string> texts;
    if (!loaded) {
        for (const base::Error& error : loaded.error()) {
            texts.push_back(base::describe(error));
        }
    }
    return texts;
}

std::vector<std::string> gate_errors(std::string_view text)
{
    return errors_of(load_gate_text("g.json", text));
}

std::vector<std::string> limits_errors(std::string_view text)
{
    return errors_of(load_limits_text("l.json", text));
}

std::string limits(const std::string& items)
{
    return R"({ "format": "memsweep-limits", "version": 1, "limits": [)" + items + "] }";
}

std::string only_error(std::string_view text)
{
    const auto errors = gate_errors(text);
    REQUIRE(errors.size() == 1);
    return errors.front();
}

std::string gate(const std::string& members)
{
    return R"({ "format": "memsweep-gate", "version": 1, )" + members + " }";
}

}  // namespace

TEST_CASE("a gate holds thresholds, a choice of metrics, and those that never gate", "[unit]")
{
    const LoadedGate loaded = load_gate_text("g.json", R"({ // comments are fine
        "format": "memsweep-gate", "version": 1, "description": "d", "x-owner": 1,
        "only": ["wall_time", "working_set_peak"], "informational": ["wall_time"],
        "informational_units": ["s", "B/s"],
        "thresholds": { "wall_time": "10%", "working_set_peak": "2%,1MiB" } })");
    REQUIRE(loaded);
    CHECK(loaded->only == measure::MetricNames{"wall_time", "working_set_peak"});
    CHECK(loaded->informational == measure::MetricNames{"wall_time"});
    CHECK(loaded->informational_units == std::set{model::Unit::seconds, model::Unit::bytes_per_second});
    CHECK(loaded->thresholds.at("wall_time").relative == 0.1);
    CHECK(loaded->thresholds.at("working_set_peak").absolute == 1048576);
}

TEST_CASE("what is wrong with a gate is told in its place", "[unit]")
{
    CHECK(only_error(gate(R"("treshold": {})")) ==
          "g.json:1:44: unknown key \"treshold\" in a gate; did you mean \"thresholds\"?");
    CHECK(only_error(gate(R"("only": ["wal_time"])")) ==
          "g.json:1:53: unknown metric \"wal_time\"; did you mean \"wall_time\"?");
    CHECK(only_error(gate(R"("informational_units": ["ms"])")) ==
          "g.json:1:68: \"informational_units\" holds units (\"B\", \"s\", \"B/s\", \"1\", \"op/s\"), not \"ms\"");
    CHECK(only_error(gate(R"("thresholds": { "wall_time": "5" })")) ==
          "g.json:1:73: \"5\" is not a threshold; write 5% or 5%,2ms");
    CHECK(only_error(gate(R"("thresholds": { "wall_time": 5 })")) ==
          "g.json:1:73: a threshold is text such as \"5%\" or \"2%,1MiB\", not 5");
    CHECK(only_error(gate(R"("only": [])")) ==
          "g.json:1:52: \"only\" must be a list of metric names, not an empty one");
    CHECK(only_error(gate(R"("only": ["wall_time", "wall_time"])")) == "g.json:1:66: \"wall_time\" is there twice");
    CHECK(only_error(R"({ "format": "memsweep-scenario", "version": 1, "steps": [] })") ==
          "g.json:1:13: \"format\" must be \"memsweep-gate\", not \"memsweep-scenario\"");
    CHECK(gate_errors(R"({ "version": 2 })").size() == 2);
    CHECK(gate_errors("{").size() == 1);
    CHECK(gate_errors("[]").size() == 1);
}

TEST_CASE("several mistakes come at once", "[unit]")
{
    CHECK(gate_errors(gate(R"("only": [1, "x"], "thresholds": { "y": "5%", "wall_time": null })")).size() == 4);
}

TEST_CASE("every gate that ships loads", "[unit]")
{
    const fs::path folder = fs::path{MEMSWEEP_SOURCE_DIR} / "configs/gates";
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator{folder}) {
        CAPTURE(entry.path());
        const LoadedGate loaded = load_gate(entry.path().string());
        CHECK(loaded);
        ++found;
    }
    CHECK(found >= 2);
    CHECK_FALSE(load_gate("/nonexistent/gate.json"));
}

TEST_CASE("limits name a part, parameters and what must hold", "[unit]")
{
    const LoadedLimits loaded = load_limits_text("l.json", limits(R"(
        { "scenario": "probe_bandwidth", "where": { "kernel": "copy", "threads": 2 }, "expr": "bandwidth.median >= 20GB/s" },
        { "expr": "latency.p(95) < 300ns", "severity": "warn", "optional": true, "x-why": 1 })"));
    REQUIRE(loaded);
    REQUIRE(loaded->size() == 2);
    const ProbeLimit& first = (*loaded)[0];
    CHECK(first.scenario == "probe_bandwidth");
    CHECK(first.assertion.where ==
          std::vector<model::Param>{{"kernel", std::string{"copy"}}, {"threads", std::int64_t{2}}});
    CHECK(first.assertion.expression.limit == 20e9);
    CHECK_FALSE(first.optional);
    CHECK((*loaded)[1].optional);
    CHECK((*loaded)[1].assertion.severity == model::Severity::warn);
}

TEST_CASE("what is wrong with limits is told in its place, all of it at once", "[unit]")
{
    CHECK(limits_errors(
              limits(R"({"expr": "bandwidht.median > 1GB/s"}, {"where": 1, "expr": "latency.median < 1us"}, {}, 5)"))
              .size() == 4);
    CHECK_THAT(limits_errors(limits(R"({"expr": "bandwidth.median > 1ms"})")).at(0),
               Catch::StartsWith("l.json:1:66: "));
    CHECK(limits_errors(limits("")).size() == 1);
    CHECK(limits_errors(R"({ "format": "memsweep-gate", "version": 1 })").size() == 1);
    CHECK(limits_errors("{").size() == 1);
    CHECK(limits_errors("[]").size() == 1);
    CHECK(limits_errors(limits(R"({"expr": "end.live_bytes.max == 0B"})")).size() == 1);
}

}  // namespace memsweep::scenarios
