// Whatever bytes a file holds, a load ends, in an error or a plan, in little memory and time.
//
// Every attempt runs in a child process with a limit on processor time (not on time: a busy machine is no defect), so
// that a crash or a hang is a failed check instead of a lost run.
#include <algorithm>
#include <functional>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "scenarios/reader/surroundings.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::test {
namespace {

// Shadow memory and quarantine are not the loader's. A release build needs 2 s.
constexpr long allowed_kib = tests::sanitized ? 4L << 20 : 500L << 10;
constexpr rlim_t allowed_seconds = tests::sanitized ? 120 : 60;
constexpr int largest_share = tests::sanitized ? 10 : 1;

// Empty when `work` ended by itself; else what became of the child.
std::string in_child(const std::function<void()>& work)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{allowed_seconds, allowed_seconds};
        ::setrlimit(RLIMIT_CPU, &limit);
        work();
        ::_exit(0);
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || ::wait4(child, &status, 0, &usage) != child) {
        return "no child process";
    }
    if (WIFSIGNALED(status)) {
        return fmt::format("ended by signal {}", WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
        return fmt::format("exit status {}", WEXITSTATUS(status));
    }
    return usage.ru_maxrss <= allowed_kib ? std::string{} : fmt::format("used {} KiB", usage.ru_maxrss);
}

std::string load_in_child(const std::string& text)
{
    return in_child([&] {
        if (const auto plan = load(text); !plan && plan.error().empty()) {
            ::_exit(1);  // a failure without a reason
        }
    });
}

std::vector<std::string> originals()
{
    std::vector<std::string> texts;
    auto files = json_files(source_path("scenarios/catalog"));
    files.push_back(fixture_path("good/everything.jsonc"));
    for (const std::string& path : files) {
        texts.push_back(scenarios::read_text_file(path).value());
    }
    return texts;
}

std::string mutated(std::string text, base::Rng& rng, const std::vector<std::string>& all)
{
    const std::string& other = all[rng.below(all.size())];
    const std::size_t at = rng.below(text.size());
    const std::size_t length = rng.below(std::min<std::uint64_t>(40, text.size() - at)) + 1;
    switch (rng.below(7)) {
    case 0:
        text[at] = static_cast<char>(rng.below(256));
        return text;
    case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
        return text;
    case 2:
        return text.substr(0, at);
    case 3:
        return text.erase(at, length);
    case 4:
        return text.insert(at, text.substr(rng.below(text.size()), length));
    case 5:
        return text.insert(at, other.substr(rng.below(other.size()), length));
    default:
        break;
    }
    static const std::vector<std::string> tokens{"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "${",
                                                 "}",
                                                 "-1",
                                                 "1e999",
                                                 "0.1",
                                                 "null",
                                                 "true",
                                                 "//",
                                                 "/*",
                                                 "*/",
                                                 "\\u0000",
                                                 "18446744073709551615",
                                                 "99999999999999999999",
                                                 "${axis.size}",
                                                 "${count}",
                                                 "\"4KiB\"",
                                                 "\xff",
                                                 "\n"};
    return text.insert(at, tokens[rng.below(tokens.size())]);
}

std::string repeated(std::string_view part, std::size_t times)
{
    std::string text;
    text.reserve(part.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        text += part;
    }
    return text;
}

}  // namespace

TEST_CASE("1,000 mutations of the catalog end in a plan or an error", "[unit]")
{
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    const auto all = originals();
    const std::string outcome = in_child([&] {
        base::Rng rng{seed};
        for (int i = 0; i < 1'000; ++i) {
            std::string text = all[rng.below(all.size())];
            for (std::uint64_t k = rng.below(3) + 1; k > 0 && !text.empty(); --k) {
                text = mutated(std::move(text), rng, all);
            }
            if (const auto plan = load(text); !plan && plan.error().empty()) {
                ::_exit(1);
            }
        }
    });
    CHECK(outcome == "");
}

TEST_CASE("every prefix of a scenario is an error with a place", "[unit]")
{
    const std::string text = originals().back();
    for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
        const auto errors = errors_of(text.substr(0, length));
        REQUIRE(errors.size() == 1);
        CHECK(errors.front().find(": syntax error") != std::string::npos);
    }
}

TEST_CASE("nesting, size and number do not exhaust the machine", "[unit]")
{
    const std::string steps = R"(, "steps": [{"op": "collect"}])";
    CHECK(load_in_child(std::string(10'000, '[')) == "");
    CHECK(load_in_child(repeated("{\"a\":", 10'000)) == "");
    CHECK(load_in_child(
              scenario_text("\"steps\": " + repeated(R"([{"op": "repeat", "times": 9, "steps": )", 10'000))) == "");
    CHECK(load_in_child(scenario_text("\"steps\": " + repeated(R"([{"op": "repeat", "times": 9, "steps": )", 30) +
                                      "[]" + repeated("}]", 30))) == "");
    CHECK(load_in_child(std::string(50U << 20U, ' ')) == "");
    CHECK(load_in_child(scenario_text("\"description\": \"" + std::string(7U << 20U, 'a') + '"' + steps)) == "");
    CHECK(load_in_child(scenario_text("\"x\": [" + repeated("1,", 190'000) + "1]" + steps)) == "");
    CHECK(load_in_child(scenario_text("\"steps\": [" + repeated("{},", 190'000) + "{}]")) == "");
    CHECK(load_in_child(scenario_text("\"" + std::string(7U << 20U, 'k') + "\": 1" + steps)) == "");
}

TEST_CASE("many wrong names cost little to explain", "[unit]")
{
    std::string keys;
    std::string variables;
    for (int i = 0; i < 100'000; ++i) {
        keys += fmt::format("\"repetition_{}\": 1, ", i);
    }
    for (int i = 0; i < 50'000; ++i) {
        variables += fmt::format("{}\"variable_with_a_rather_long_name_so_that_comparing_it_costs_{}\": 1",
                                 i == 0 ? "" : ", ", i);
    }
    CHECK(load_in_child(scenario_text(keys + R"("steps": [{"op": "collect"}])")) == "");
    CHECK(load_in_child(scenario_text(fmt::format(
              R"("variables": {{{}}}, "steps": [{}{{"op": "collect"}}])", variables,
              repeated(R"({"op": "sample", "name": "${variable_with_a_rather_long_name_x}"}, )", 40'000)))) == "");
    const auto errors = errors_of(scenario_text(keys + R"("steps": [{"op": "collect"}])"));
    REQUIRE(errors.size() == 51);
    CHECK(errors.back() == "and at least 950 more");
}

TEST_CASE("the largest legal scenarios stay small", "[unit]")
{
    // 100,000 cases of 5 steps each, 400,000 parameters, the longest values; a tenth of it where checks slow it down.
    std::string values;
    for (int i = 0; i < 5'000 / largest_share; ++i) {
        values += fmt::format("{}\"{}{:05}\"", i == 0 ? "" : ", ", std::string(59, 'v'), i);
    }
    const std::string legal = scenario_text(fmt::format(
        R"("axes": {{"a": [{}], "b": {{"from": 1, "to": 20, "step": 1}}, "c": [1], "d": ["{}"]}}, "steps": [{}{{"op": "collect"}}])",
        values, std::string(64, 'd'), repeated(R"({"op": "alloc", "as": "a", "shape": [1, 2, 3, 4]}, )", 4)));
    CHECK(in_child([&] {
              const auto plan = load(legal);
              ::_exit(plan && plan->cases.size() == 100'000 / largest_share ? 0 : 1);
          }) == "");
    const std::string loops =
        repeated(R"({"op": "repeat", "times": 2, "steps": [)", 8) + R"({"op": "collect"})" + repeated("]}", 8);
    CHECK(load_in_child(
              scenario_text(fmt::format(R"("steps": [{}{{"op": "collect"}}])", repeated(loops + ", ", 2'000)))) == "");
}

TEST_CASE("a string that substitution blows up is an error", "[unit]")
{
    const auto errors = errors_of(
        scenario_text(fmt::format(R"("variables": {{"v": "{}"}}, "steps": [{{"op": "sample", "name": "{}"}}])",
                                  std::string(60'000, 'a'), repeated("${v}", 15'000))));
    CHECK(errors == std::vector<std::string>{"2:60060: longer than 65536 bytes after substitution"});
}

}  // namespace memsweep::test
