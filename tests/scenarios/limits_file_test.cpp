#include "scenarios/reader/limits_file.hpp"

#include "tests/support/catch.hpp"

namespace memsweep::scenarios {
namespace {

std::vector<std::string> limits_errors(std::string_view text)
{
    std::vector<std::string> texts;
    const LoadedLimits loaded = load_limits_text("l.json", text);
    if (!loaded) {
        for (const base::Error& error : loaded.error()) {
            texts.push_back(base::describe(error));
        }
    }
    return texts;
}

std::string limits(const std::string& items)
{
    return R"({ "format": "memsweep-limits", "version": 1, "limits": [)" + items + "] }";
}

}  // namespace

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
