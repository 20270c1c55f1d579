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
    CHECK(run_start_event(stamp, {"s", 2, 20}) ==
          "{\"type\":\"run_start\"," + start_of_line + R"("scenario":"s","cases":2,"repetitions":20})" + "\n");
    CHECK(case_start_event(stamp, {"s/a=1", 42, 3}) ==
          "{\"type\":\"case_start\"," + start_of_line + R"("case":"s/a=1","pid":42,"repetition":3})" + "\n");
    CHECK(repetition_event(stamp, {"s/a=1", 3, 42, model::Status::ok, 0.25, ""}) ==
          "{\"type\":\"repetition\"," + start_of_line +
              R"("case":"s/a=1","repetition":3,"pid":42,"status":"ok","wall_time":0.25,"reason":null})" + "\n");
    CHECK(repetition_event(stamp, {"s/a=1", 3, 42, model::Status::timeout, std::nullopt, "60 s"}) ==
          "{\"type\":\"repetition\"," + start_of_line +
              R"("case":"s/a=1","repetition":3,"pid":42,"status":"timeout","wall_time":null,"reason":"60 s"})" + "\n");
    CHECK(case_end_event(stamp, {"s/a=1", model::Status::ok, ""}) ==
          "{\"type\":\"case_end\"," + start_of_line + R"("case":"s/a=1","status":"ok","reason":null})" + "\n");
    CHECK(warning_event(stamp, {"c", "m", "h"}) ==
          "{\"type\":\"warning\"," + start_of_line + R"("code":"c","message":"m","hint":"h"})" + "\n");
    CHECK(
        assertion_event(stamp, {"s/a=1", "x.max == 0B", 1.0, model::Unit::bytes, model::AssertionOutcome::failed,
                                model::Severity::fail, ""}) ==
        "{\"type\":\"assertion\"," + start_of_line +
            R"("case":"s/a=1","expr":"x.max == 0B","where":{},"actual":1,"unit":"B","passed":false,"severity":"fail","reason":null})" +
            "\n");
    CHECK(run_end_event(stamp, 3) == "{\"type\":\"run_end\"," + start_of_line + "\"exit_code\":3}\n");
}

TEST_CASE("no name can break an event line", "[unit]")
{
    for (const std::string& name : hostile_names()) {
        const std::string line = repetition_event(
            {name, name}, {name, 0, 1, model::Status::error, std::numeric_limits<double>::infinity(), name});
        CHECK(line.find('\n') == line.size() - 1);
        const auto event = nlohmann::json::parse(line);
        CHECK(event["type"] == "repetition");
        CHECK(event["wall_time"].is_null());
    }
}

}  // namespace memsweep::reporters
