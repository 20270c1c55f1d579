#include <limits>

#include <nlohmann/json.hpp>

#include "reporters/json/events.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

constexpr EventStamp stamp{"run-1", "2026-01-31T12:00:00.000Z"};
const std::string start_of_line = R"("run_id":"run-1","t":"2026-01-31T12:00:00.000Z",)";

}  // namespace

TEST_CASE("events are one line of compact JSON each", "[unit]")
{
    CHECK(event_line("case_start", stamp, {{"case", "s/a=1"}, {"pid", 42}}) ==
          "{\"type\":\"case_start\"," + start_of_line + R"("case":"s/a=1","pid":42})" + "\n");
    CHECK(event_line("warning", stamp, event_fields(model::Warning{"c", "m", "h"})) ==
          "{\"type\":\"warning\"," + start_of_line + R"("code":"c","message":"m","hint":"h"})" + "\n");
    const model::AssertionResult assertion{
        "s/a=1", "x.max == 0B", 1.0, model::Unit::bytes, model::AssertionOutcome::failed, model::Severity::fail, ""};
    CHECK(
        event_line("assertion", stamp, event_fields(assertion)) ==
        "{\"type\":\"assertion\"," + start_of_line +
            R"("case":"s/a=1","expr":"x.max == 0B","where":{},"actual":1,"unit":"B","passed":false,"severity":"fail","reason":null})" +
            "\n");
}

TEST_CASE("no name can break an event line", "[unit]")
{
    for (const std::string& name : hostile_names()) {
        const std::string line =
            event_line("repetition", {name, name},
                       {{"case", name}, {"wall_time", std::numeric_limits<double>::infinity()}, {"reason", name}});
        CHECK(line.find('\n') == line.size() - 1);
        const auto event = nlohmann::json::parse(line);
        CHECK(event["type"] == "repetition");
        CHECK(event["wall_time"].is_null());
    }
}

}  // namespace memsweep::reporters
