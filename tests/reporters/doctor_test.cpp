#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using model::Fitness;

Checkup sample()
{
    Checkup checkup;
    checkup.machine.host = "host\xff";
    checkup.taken = "2026-01-31T12:00:00.000Z";
    checkup.checks = {
        {"swap", Fitness::ok, "none", "Without swap a working set is what was touched.", ""},
        {"turbo", Fitness::note, "", "Not shown here.", ""},
        {"governor", Fitness::spoils, "power\x1bsave", "The clock follows the load.", "echo performance | sudo tee x"},
        {"steal", Fitness::ok, "0 %", "Time of other guests.", "", {{"share", model::Unit::one, 0.0}}},
    };
    return checkup;
}

}  // namespace

TEST_CASE("what spoils comes first, with the command that changes it", "[unit]")
{
    const std::string text = to_terminal(sample(), {});
    CHECK(text ==
          "Not fit to measure on as it is: 1 of 4 checks would spoil numbers.\n"
          "\nSpoils numbers\n"
          "  * governor: power\uFFFDsave\n    The clock follows the load.\n    $ echo performance | sudo tee x\n"
          "\nWorth knowing\n"
          "  * turbo: cannot be told here\n    Not shown here.\n"
          "\nWell\n"
          "  swap (none), steal (0 %)\n");
    const std::string verbose = to_terminal(sample(), {.verbose = true});
    CHECK(verbose.find("  * swap: none\n    Without swap") != std::string::npos);
    CHECK(to_terminal(sample(), {.color = true}).find("\x1b[") != std::string::npos);
}

TEST_CASE("a fit machine is told so", "[unit]")
{
    Checkup checkup = sample();
    checkup.checks.erase(checkup.checks.begin() + 2);
    CHECK(to_terminal(checkup, {}).starts_with("Fit to measure on: none of 3 checks would spoil numbers.\n"));
    CHECK(nlohmann::json::parse(to_json(checkup))["fit"] == true);
}

TEST_CASE("every check is in the JSON, what cannot be told as null", "[unit]")
{
    const auto json = nlohmann::json::parse(to_json(sample()));
    CHECK(json["format"] == "memsweep-doctor");
    CHECK(json["format_version"] == 1);
    CHECK(json["fit"] == false);
    CHECK(json["machine"]["host"] == "host\uFFFD");
    CHECK(json["summary"] == nlohmann::json{{"ok", 2}, {"note", 1}, {"spoils", 1}});
    REQUIRE(json["checks"].size() == 4);
    CHECK(json["checks"][1]["value"].is_null());
    CHECK(json["checks"][1]["command"].is_null());
    CHECK(json["checks"][2]["status"] == "spoils");
    CHECK(json["checks"][2]["command"] == "echo performance | sudo tee x");
    CHECK(json["checks"][3]["figures"]["share"] == nlohmann::json{{"unit", "1"}, {"value", 0.0}});
}

}  // namespace memsweep::reporters
