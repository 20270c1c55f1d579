#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/json/result_json.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Parsed = nlohmann::ordered_json;

std::string error_of(const Parsed& document)
{
    const auto report = read_json(document.dump(), "r.json");
    return report ? std::string{"no error"} : base::describe(report.error());
}

Parsed sample_document()
{
    return Parsed::parse(to_json(sample_report()));
}

}  // namespace

TEST_CASE("a result that is read back is written as the same bytes", "[unit]")
{
    for (const model::RunReport& report : {sample_report(), hostile_report(), model::RunReport{}}) {
        const std::string text = to_json(report);
        const auto read = read_json(text, "r.json");
        REQUIRE(read);
        CHECK((to_json(*read) == text));
    }
}

TEST_CASE("reading restores the values of the model", "[unit]")
{
    const model::RunReport written = sample_report();
    const model::RunReport read = *read_json(to_json(written), "r.json");
    CHECK(read.run.seed == written.run.seed);
    CHECK(read.run.tags == written.run.tags);
    CHECK(read.machine.cgroup_memory_max == written.machine.cgroup_memory_max);
    CHECK(read.machine.governor.empty());
    CHECK(read.tool.commit == "1a2b3c4d5e6f");
    REQUIRE(read.cases.size() == written.cases.size());
    CHECK(read.cases[0].params == written.cases[0].params);
    CHECK(read.cases[0].metrics[0].values == written.cases[0].metrics[0].values);
    CHECK(read.cases[0].metrics[0].summary->ci95 == written.cases[0].metrics[0].summary->ci95);
    CHECK(read.cases[0].metrics.back().reason == "the canary mapping was refused");
    CHECK(read.cases[1].points[1].floating_bytes == 800'000'000.0);
    CHECK_FALSE(read.cases[1].points[1].pool_idle_bytes);
    CHECK(read.cases[3].status == model::Status::timeout);
    CHECK(read.assertions[3].actual == std::nullopt);
}

TEST_CASE("what is not a finite number is null with a reason, and counts stay whole numbers", "[unit]")
{
    const Parsed document = Parsed::parse(to_json(hostile_report()));
    const Parsed& wall_time = document["cases"][0]["metrics"]["wall_time"];
    CHECK(wall_time["values"][1].is_null());
    CHECK(wall_time["reason"] == "not a finite number");
    CHECK(wall_time["summary"]["max"].is_null());
    CHECK(document["cases"][0]["points"][0]["live_bytes"].is_null());
    CHECK(document["cases"][0]["series"][0]["v"][0].is_null());
    CHECK(document["cases"][0]["points"][1]["minor_faults"].is_number_unsigned());
    CHECK(document["run"]["seed"] == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("JSON holds no character that terminals obey, and reads back to the same text", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases[0].id = "x\x1b[31m\x7f\u0080\u009b\u00a0é";
    const std::string text = to_json(report);
    CHECK(text.find(R"("x\u001b[31m\u007f\u0080\u009b)"
                    "\u00a0é\"") != std::string::npos);
    CHECK(read_json(text, "r.json")->cases[0].id == report.cases[0].id);
}

TEST_CASE("numbers are the shortest text that reads back to the same double", "[unit]")
{
    model::RunReport report = sample_report();
    const std::vector<std::optional<double>> values{0.1,  1e-9, 1.0 / 3,  5e-324, std::numeric_limits<double>::max(),
                                                    -0.0, 1e15, 195313.0, 1e22};
    report.cases[0].metrics.resize(1);
    report.cases[0].metrics[0].values = values;
    report.cases[0].metrics[0].summary.reset();
    report.cases[0].repetitions = static_cast<std::uint32_t>(values.size());
    const std::string text = to_json(report);
    CHECK(text.find("\"values\": "
                    "[0.1,1e-09,0.3333333333333333,5e-324,1.7976931348623157e+308,0,1000000000000000,195313,1e+22]") !=
          std::string::npos);
    CHECK(read_json(text, "r.json")->cases[0].metrics[0].values == values);
}

TEST_CASE("keys come in their documented order", "[unit]")
{
    const Parsed document = sample_document();
    std::string keys;
    for (const auto& [key, value] : document.items()) {
        keys += key + " ";
    }
    CHECK(keys == "format format_version tool run machine calibration warnings cases matrices contrasts findings "
                  "finding_values assertions "
                  "summary ");
    keys.clear();
    for (const auto& [key, value] : document["cases"][0].items()) {
        keys += key + " ";
    }
    CHECK(keys == "id scenario params status reason repetitions planned_repetitions metrics points phases series ");
}

TEST_CASE("wrong documents are refused with the place of the problem", "[unit]")
{
    struct Example {
        std::string pointer;
        Parsed value;
        std::string message;
    };
    const Example example = GENERATE(
        Example{"/format_version", 2, "r.json: the result has format_version 2; this memsweep reads version 1"},
        Example{"/format", "memsweep-scenario",
                "r.json: the format is \"memsweep-scenario\"; expected \"memsweep-result\""},
        Example{"/run/seed", -1,
                "r.json: run.seed: expected a whole number from 0 to 18446744073709551615, found number"},
        Example{"/run/seed", 1.5,
                "r.json: run.seed: expected a whole number from 0 to 18446744073709551615, found number"},
        Example{"/run/started", nullptr, "r.json: run.started: expected a string, found null"},
        Example{"/machine/cores", 4294967296U,
                "r.json: machine.cores: expected a whole number from 0 to 4294967295, found number"},
        Example{"/cases/1/status", "fine",
                "r.json: cases[1].status: unknown value \"fine\"; known: ok, skipped, failed, error, timeout"},
        Example{"/cases/0/metrics/wall_time/values/2", "0.1",
                "r.json: cases[0].metrics.wall_time.values[2]: expected a number or null, found string"},
        Example{"/cases/0/metrics/wall_time/better", "lover",
                "r.json: cases[0].metrics.wall_time.better: unknown value \"lover\"; did you mean \"lower\"?"},
        Example{"/cases/0/metrics/wall_time/summary/ci95", Parsed::array({1}),
                "r.json: cases[0].metrics.wall_time.summary.ci95: an interval has two ends"},
        Example{"/cases/0/params/mode", Parsed::array(),
                "r.json: cases[0].params.mode: expected a string, found array"},
        Example{"/cases/0/series/0/t", Parsed::array(), "r.json: cases[0].series[0]: 0 times but 4 values"},
        Example{"/cases", Parsed::object(), "r.json: cases: expected an array, found object"},
        Example{"/assertions/0/passed", 1, "r.json: assertions[0].passed: expected true or false, found number"});
    Parsed document = sample_document();
    document[Parsed::json_pointer{example.pointer}] = example.value;
    CHECK(error_of(document) == example.message);
}

TEST_CASE("what is still measured is summed up as it is written", "[unit]")
{
    model::RunReport report = sample_report();
    const std::string whole = to_json(report);
    for (model::CaseReport& one : report.cases) {
        for (model::Metric& metric : one.metrics) {
            metric.summary.reset();
        }
    }
    CHECK((to_json(report) == whole));
    CHECK(Parsed::parse(to_json(report, Summaries::as_they_are))["cases"][0]["metrics"]["wall_time"]["summary"]
              .is_null());
}

TEST_CASE("a key that is given twice is refused with its place", "[unit]")
{
    const std::string text = sample_document().dump();
    const auto twice = [&](const std::string& behind, const std::string& member) {
        std::string changed = text;
        changed.insert(changed.find(behind) + behind.size(), member);
        const auto read = read_json(changed, "r.json");
        return read ? std::string{"no error"} : base::describe(read.error());
    };
    CHECK(twice("{", "\"run\":null,") == "r.json: run: given twice");
    CHECK(twice("\"cases\":[{", "\"id\":\"x\",") == "r.json: cases[0].id: given twice");
    CHECK(twice("\"cases\":[{", "\"points\":[],") == "r.json: cases[0].points: given twice");
    CHECK(twice("\"values\":[", "],\"values\":[") == "r.json: cases[0].metrics.wall_time.values: given twice");
    const std::string metric =
        text.substr(text.find("\"wall_time\":{"), text.find("\"cpu_time\":{") - text.find("\"wall_time\":{"));
    CHECK(twice("\"metrics\":{", metric) == "r.json: cases[0].metrics.wall_time: given twice");
}

TEST_CASE("a missing key is named, and unknown keys are skipped", "[unit]")
{
    Parsed document = sample_document();
    document["run"].erase("seed");
    CHECK(error_of(document) == "r.json: run: the key \"seed\" is missing");
    CHECK(error_of(Parsed::object()) == "r.json: no memsweep result: \"format\" and \"format_version\" are missing");
    CHECK(error_of(Parsed::array()) == "r.json: no memsweep result: \"format\" and \"format_version\" are missing");

    Parsed newer = sample_document();
    newer["cases"][0]["colour"] = "blue";
    newer["cases"][0]["points"][0]["gpu_bytes"] = 1;
    newer["matrices"] = Parsed::array({{{"name", "numa_read"}}});
    CHECK(error_of(newer) == "no error");
}

TEST_CASE("a duet says so, and what is none says nothing of it", "[unit]")
{
    CHECK_FALSE(sample_document()["run"].contains("duet"));
    CHECK_FALSE(sample_document()["run"].contains("processors"));
    Parsed document = sample_document();
    document["run"]["duet"] = true;
    document["run"]["processors"] = {2, 5};
    const auto report = read_json(document.dump(), "r.json");
    REQUIRE(report);
    CHECK(report->run.duet_processors == std::vector<std::uint32_t>{2, 5});
    const Parsed written = Parsed::parse(to_json(*report));
    CHECK(written["run"]["duet"] == true);
    CHECK(written["run"]["processors"] == Parsed{2, 5});
}

TEST_CASE("a file of version 1 without the later additions is read", "[unit]")
{
    Parsed document = sample_document();
    document["run"].erase("isolation");
    document["run"]["scenario"].erase("description");
    document["cases"][0].erase("planned_repetitions");
    document["cases"][0]["phases"][0].erase("time");
    document["cases"][0]["phases"][0].erase("entered");
    document["cases"][0]["points"][0].erase("huge_page_bytes");
    const auto report = read_json(document.dump(), "r.json");
    REQUIRE(report);
    CHECK(report->cases[0].planned_repetitions == 6);
    CHECK(report->cases[0].phases[0].time == report->cases[0].phases[0].end);
    CHECK(report->cases[0].phases[0].entered == 1);
}

TEST_CASE("text that is no JSON is refused with line and column", "[unit]")
{
    CHECK(base::describe(read_json("{\n  \"format\": ,\n}", "r.json").error()) == "r.json:2:13: not valid JSON");
    CHECK(base::describe(read_json("", "-").error()) == "-:1:1: not valid JSON");
    CHECK_FALSE(read_json("{\"format\": \"memsweep-result\", \"x\": 1e999}", "r.json"));
    CHECK_FALSE(read_json("{\"format\": \"\xff\"}", "r.json"));
    const std::string deep(1'000'000, '[');
    CHECK(base::describe(read_json(deep, "r.json").error()) ==
          "r.json: nested deeper than 32 levels; this is no memsweep result");
}

}  // namespace memsweep::reporters
