// "command": what is read, what is refused, and where.
#include <fmt/format.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/command_plans.hpp"
#include "scenarios/reader/loader.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

scenarios::Loaded load_command(const std::string& command, const std::string& more = "")
{
    const std::string text =
        fmt::format(R"({{"format": "memsweep-scenario", "version": 1, "name": "c", {} "command": {}}})", more, command);
    return scenarios::load_text("c.json", text, {}, fake_surroundings());
}

std::string first_error(const scenarios::Loaded& loaded)
{
    return loaded ? "" : base::describe(loaded.error().front());
}

}  // namespace

TEST_CASE("a command is read with all its keys", "[unit]")
{
    const auto plan = load_command(R"({"run": ["a", "${axis.n}", "x${axis.n}"], "prepare": "p", "cleanup": ["c", "d"],
        "stdin": "in", "cwd": "there", "env": {"B": "${axis.n}", "A": "1"}, "stdout": "checksum", "exit_code": 3,
        "count": true})",
                                   R"("axes": {"n": [7]},)");
    REQUIRE(plan);
    REQUIRE(model::runs_commands(*plan));
    const model::CommandSpec& command = *plan->cases.front().command();
    CHECK(command.run == std::vector<std::string>{"a", "7", "x7"});
    CHECK(command.prepare == std::vector<std::string>{"p"});
    CHECK(command.cleanup == std::vector<std::string>{"c", "d"});
    CHECK(command.input == "in");
    CHECK(command.cwd == "there");
    CHECK(command.environment == model::Variables{{"A", "1"}, {"B", "7"}});
    CHECK(command.output == model::output_checksum);
    CHECK(command.exit_code == 3);
    CHECK(command.count);
    CHECK_FALSE(command.shell);
}

TEST_CASE("a command's defaults are those of hyperfine's users", "[unit]")
{
    const auto plan = load_command(R"({"run": ["true"], "stdout": null})");
    REQUIRE(plan);
    const model::CommandSpec& command = *plan->cases.front().command();
    CHECK(command.output == model::output_discarded);
    CHECK(command.exit_code == 0);
    CHECK(command.input.empty());
}

TEST_CASE("what a command cannot be is refused in its place", "[unit]")
{
    CHECK(first_error(load_command("{}")) == "c.json:1:72: \"command\" lacks \"run\": the program and its arguments; "
                                             "with `shell`, one string");
    CHECK(first_error(load_command(R"({"run": []})")) == "c.json:1:80: \"run\" names no program");
    CHECK(first_error(load_command(R"({"run": "ls -l"})")).find("must be a list of words") != std::string::npos);
    CHECK(first_error(load_command(R"({"run": ["a", "b"], "shell": true})")).find("must be one text") !=
          std::string::npos);
    CHECK(first_error(load_command(R"({"run": ["a", 1]})")).find("is made of strings") != std::string::npos);
    CHECK(first_error(load_command(R"({"run": ["a"], "exit_code": 256})")).find("exit_code") != std::string::npos);
    CHECK(first_error(load_command(R"({"run": ["a"], "env": {"A=B": "x"}})")).find("cannot be a variable") !=
          std::string::npos);
    CHECK(first_error(load_command(R"({"run": ["a"], "rnu": ["b"]})")).find("did you mean") != std::string::npos);
    for (const char* more : {R"("memory": {},)", R"("release": {},)", R"("safety": {},)", R"("ranks": 2,)",
                             R"("steps": [{"op": "collect"}],)", R"("axes": {"placement": ["alone"]},)"}) {
        INFO(more);
        CHECK_FALSE(load_command(R"({"run": ["a"]})", more));
    }
}

TEST_CASE("what programs read is part of their fingerprint, and where it lies is not", "[unit]")
{
    const auto plan_of = [](const std::string& path, const std::string& contents) {
        auto plan = scenarios::build_comparison_plan({"a"}, {"b"}, "", {}, fake_surroundings());
        REQUIRE(plan);
        if (!path.empty()) {
            scenarios::give_input(*plan, path, contents);
        }
        return *std::move(plan);
    };
    const model::Plan one = plan_of("/in", "3 B, sha256 aa");
    for (const model::Case& each : one.cases) {
        CHECK(each.command()->input == "/in");
    }
    CHECK(one.fingerprint == plan_of("/elsewhere", "3 B, sha256 aa").fingerprint);
    CHECK(one.fingerprint != plan_of("/in", "3 B, sha256 bb").fingerprint);
    CHECK(one.fingerprint != plan_of("", "").fingerprint);
    CHECK(one.cases.front().fingerprint != plan_of("/in", "3 B, sha256 bb").cases.front().fingerprint);
}

TEST_CASE("a script is one text of a shell, and its case is named after its first word", "[unit]")
{
    const auto plan = scenarios::command_plan({"./tools/a-b -n 1 | wc /x"}, "", {}, fake_surroundings(), true);
    REQUIRE(plan);
    CHECK(plan->name == "a_b");
    CHECK(plan->cases.front().command()->shell);
    CHECK(plan->cases.front().command()->run == std::vector<std::string>{"./tools/a-b -n 1 | wc /x"});
}

TEST_CASE("what a command runs is part of its fingerprint", "[unit]")
{
    const auto one = load_command(R"({"run": ["a"]})");
    const auto same = load_command(R"({"run": "a", "stdout": "null"})");
    const auto other = load_command(R"({"run": ["a"], "env": {"N": "1"}})");
    REQUIRE((one && same && other));
    CHECK(one->fingerprint == same->fingerprint);
    CHECK(one->fingerprint != other->fingerprint);
    CHECK(one->cases.front().fingerprint != other->cases.front().fingerprint);
}

TEST_CASE("a program of the command line is one case", "[unit]")
{
    const std::vector<std::string> words{"/usr/bin/G++-12", "${literally}", "-x"};
    const auto plan = scenarios::command_plan(words, "said", {.repetitions = 3}, fake_surroundings());
    REQUIRE(plan);
    CHECK(plan->name == "g___12");
    CHECK(plan->description == "said");
    CHECK(plan->settings.repetitions == 3);
    REQUIRE(plan->cases.size() == 1);
    CHECK(plan->cases.front().id == "g___12");
    CHECK(plan->cases.front().command()->run == words);
    const auto axes = scenarios::command_plan({"a", "${axis.n}"}, "", {.axes = {{"n", "[1,2]"}}}, fake_surroundings());
    REQUIRE(axes);
    REQUIRE(axes->cases.size() == 2);
    CHECK(axes->cases.back().command()->run == std::vector<std::string>{"a", "2"});
}

}  // namespace memsweep::test
