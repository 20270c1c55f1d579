// What is said of advice, by its verdict.
#include "reporters/document/advice.hpp"

#include <string>

#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/json_parse.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

constexpr double mebi = 1 << 20;

AdviceTry tried(std::string text, double memory, double time, std::string dropped)
{
    AdviceTry one;
    one.settings.allocator = text.substr(0, text.find(' '));
    one.settings.text = std::move(text);
    one.stage = measure::AdviceStage::race;
    one.dropped = std::move(dropped);
    one.memory = memory * mebi;
    one.time = time;
    one.runs = 1;
    return one;
}

AdviceReport advice()
{
    AdviceReport report;
    report.command = {"/usr/bin/sqlite3", ":memory:"};
    report.wanted_at = "end";
    report.keep = "cpu_time";
    report.at_most = 1.05;
    report.program = {.allocator = "glibc", .origin = MallocOrigin::libc, .unrecorded = {}};
    report.default_memory = {37.7 * mebi, 37.7 * mebi, 37.6 * mebi};
    report.default_time = {0.30, 0.31, 0.29};
    report.tried = {tried("glibc trim_threshold=128KiB", 23.7, 0.29, ""), tried("mimalloc", 21, 0.5, "slower")};
    report.tried[0].settings.keeps_allocator = true;
    report.tried[0].settings.settings = {{"trim_threshold", "131072"}};
    report.tried[0].settings.environment = {{"GLIBC_TUNABLES", "glibc.malloc.trim_threshold=131072"}};
    report.best = 0;
    report.verdict = AdviceVerdict::change;
    report.gain = {.claim = measure::Claim::proven, .ratio = 0.629, .ci95 = {{0.629, 0.63}}, .pairs = 20};
    report.price = {.claim = measure::Claim::open, .ratio = 0.97, .ci95 = {{0.90, 1.06}}, .pairs = 20};
    report.real_runs = 81;
    report.seconds = 27;
    return report;
}

}  // namespace

TEST_CASE("advice begins with what to do, what it gains and what it costs", "[unit]")
{
    AdviceReport report = advice();
    CHECK(
        headline_of(report) ==
        "sqlite3, rss@end: set one tunable, no other allocator: 37.7 -> 23.7 MiB (-37.1 %, -37.1 to -37.0). Price not "
        "proven: CPU time x0.97 (0.90 to 1.06), 20 pairs.");
    report.price.claim = measure::Claim::proven;
    CHECK(headline_of(report).ends_with("Price proven below x1.05: CPU time x0.97 (0.90 to 1.06), 20 pairs."));
    report.tried[0].settings.keeps_allocator = false;
    report.tried[0].settings.allocator = "jemalloc";
    CHECK(headline_of(report).find("preload jemalloc, with one setting: ") != std::string::npos);
    report.verdict = AdviceVerdict::change_nothing;
    report.reason = "Of 20 settings tried none gains anything.";
    CHECK(headline_of(report) == "sqlite3, rss@end: change nothing. Of 20 settings tried none gains anything.");
    report.wanted_at = "idle";
    report.idle_seconds = 12;
    CHECK(headline_of(report).starts_with("sqlite3, rss@idle=12s: change nothing."));
}

TEST_CASE("what a replay predicts is called so, beside what was run", "[unit]")
{
    AdviceReport report = advice();
    report.replays = 3;
    report.program.recorded_share = 0.97;
    report.tried[0].predicted = 24.0 * mebi;
    report.tried.push_back(tried("jemalloc", 0, 0, "outrun"));
    AdviceTry& replayed = report.tried.back();
    replayed.memory.reset();
    replayed.time.reset();
    replayed.runs = 0;
    replayed.stage = measure::AdviceStage::untried;
    replayed.predicted = 30 * mebi;
    CHECK(claim_of(report, report.tried[0]) == "proven");
    CHECK(claim_of(report, report.tried[1]) == "not proven");
    CHECK(claim_of(report, replayed) == "predicted");
    CHECK(report.tried[0].prediction_error() == 24.0 * mebi / (23.7 * mebi) - 1);
    CHECK_FALSE(replayed.prediction_error());
    const std::string json = to_json(report);
    CHECK(json.find("\"stage\": \"replay\"") != std::string::npos);
    CHECK(json.find("\"recorded_share\": 0.97") != std::string::npos);
    CHECK(json.find("\"claim\": \"predicted\"") != std::string::npos);
    for (const std::string& text : {to_terminal(report, TerminalStyle{.width = 200, .color = false, .verbose = true}),
                                    to_markdown(report), to_html(report)}) {
        CHECK(text.find("predicted") != std::string::npos);
        CHECK(text.find("replayed") != std::string::npos);
        CHECK(text.find("not proven") != std::string::npos);
    }
    report.best = 2;
    report.verdict = AdviceVerdict::predicted_only;
    report.gain = {};
    report.price = {};
    report.reason = "The budget ended before pairs of runs could prove it; a larger --budget decides.";
    CHECK(headline_of(report) ==
          "sqlite3, rss@end: predicted, not run: jemalloc would give 37.7 -> 30.0 MiB (-20.4 %). " + report.reason);
    report.best.reset();
    report.reason = "The budget ended before a setting was run; a larger --budget decides.";
    CHECK(headline_of(report) == "sqlite3, rss@end: nothing is proven. " + report.reason);
    CHECK(to_terminal(report, TerminalStyle{.width = 200, .color = false}).find("nothing is proven") !=
          std::string::npos);
}

TEST_CASE("a program keeps the blanks of its name, and a script of the shell is its first word", "[unit]")
{
    AdviceReport report = advice();
    report.command = {"./my tools/load test"};
    CHECK(headline_of(report).starts_with("load test, rss@end: "));
    report.command = {"./serve --port 80 && true"};
    report.is_script = true;
    CHECK(headline_of(report).starts_with("serve, rss@end: "));
}

TEST_CASE("an interpreter is named with its script", "[unit]")
{
    AdviceReport report = advice();
    report.command = {"/usr/bin/python3", "load/serve.py", "--fast"};
    CHECK(headline_of(report).starts_with("python3 serve.py, rss@end: "));
    report.command = {"/usr/bin/python3", "-c", "pass"};
    CHECK(headline_of(report).starts_with("python3, rss@end: "));
}

TEST_CASE("the interval of the default's median needs six runs", "[unit]")
{
    AdviceReport report = advice();
    const auto interval = [&report] { return json_of(to_json(report))["default"]["value"]["ci95"]; };
    CHECK(interval().is_null());
    report.default_memory = {6, 1, 2, 5, 3, 4};
    CHECK(pretty(interval()) == pretty(Json::array({1.0, 6.0})));
}

TEST_CASE("lines for a service quote each variable", "[unit]")
{
    const model::Variables environment{{"LD_PRELOAD", "/lib/libjemalloc.so.2"}, {"MALLOC_CONF", "dirty_decay_ms:0"}};
    CHECK(environment_line(environment) == "LD_PRELOAD=/lib/libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:0");
    CHECK(systemd_lines(environment) == "[Service]\nEnvironment=\"LD_PRELOAD=/lib/libjemalloc.so.2\"\n"
                                        "Environment=\"MALLOC_CONF=dirty_decay_ms:0\"\n");
    CHECK(dockerfile_line(environment) == "ENV LD_PRELOAD=\"/lib/libjemalloc.so.2\" MALLOC_CONF=\"dirty_decay_ms:0\"");
}

TEST_CASE("every renderer shows advice, the settings tried and why the others were dropped", "[unit]")
{
    const AdviceReport report = advice();
    for (const std::string& text : {to_terminal(report, TerminalStyle{.width = 160, .color = false, .verbose = true}),
                                    to_markdown(report), to_html(report)}) {
        CHECK(text.find("set one tunable") != std::string::npos);
        CHECK(text.find("slower than allowed") != std::string::npos);
        CHECK(text.find("131072") != std::string::npos);
    }
    const std::string json = to_json(report);
    CHECK(json.find("\"memsweep-advice\"") != std::string::npos);
    CHECK(json.find("\"verdict\": \"change\"") != std::string::npos);
    AdviceReport nothing = report;
    nothing.best.reset();
    nothing.verdict = AdviceVerdict::change_nothing;
    CHECK(to_json(nothing).find("\"advice\": []") != std::string::npos);
}

}  // namespace memsweep::reporters
