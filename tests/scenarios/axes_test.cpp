// Axes: ranges, the command line's syntax, exclusions. The messages about files are in fixtures/bad/axes.jsonc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/reader/axes.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

std::string joined(const base::Expected<std::vector<model::Scalar>>& values)
{
    if (!values) {
        return "error: " + values.error().message;
    }
    std::vector<std::string> texts;
    for (const model::Scalar& value : *values) {
        texts.push_back(model::to_text(value));
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string axis(std::string_view text)
{
    return joined(scenarios::parse_axis_values(text));
}

std::vector<std::string> ids(const model::Plan& plan)
{
    std::vector<std::string> all;
    for (const model::Case& plan_case : plan.cases) {
        all.push_back(plan_case.id);
    }
    return all;
}

}  // namespace

TEST_CASE("the command line's axis syntax", "[unit]")
{
    CHECK(axis("[4KiB:1GiB:*4]") == "4KiB 16KiB 64KiB 256KiB 1MiB 4MiB 16MiB 64MiB 256MiB 1GiB");
    CHECK(axis("[1:10:+3]") == "1 4 7 10");
    CHECK(axis("[1:10:+4]") == "1 5 9");
    CHECK(axis("[1:1:*2]") == "1");
    CHECK(axis("[0:1KiB:+512B]") == "0 512 1KiB");
    CHECK(axis("[1000:1MB:*10]") == "1000 10000 100000 1000000");
    CHECK(axis("[pool,refcount]") == "pool refcount");
    CHECK(axis("[pool]") == "pool");
    CHECK(axis("4") == "4");
    CHECK(axis("4,8") == "4 8");
    CHECK(axis("[true,0.5,-1,\"4\"]") == "true 0.5 -1 4");
    CHECK(axis("[host:pinned,gpu0]") == "host:pinned gpu0");
    CHECK(axis("a\\,b,c") == "a,b c");
    CHECK(axis("[a\\,b,c\\\\,d\\e,\\]") == "a,b c\\ d\\e \\");
    CHECK(std::holds_alternative<std::int64_t>(scenarios::parse_axis_values("[1:10:+3]")->front()));
    CHECK(std::holds_alternative<std::string>(scenarios::parse_axis_values("[1B:10:+3]")->front()));
}

TEST_CASE("what the axis syntax rejects", "[unit]")
{
    CHECK(axis("[1:10]") == "error: \"[1:10]\" is not a range: write [FROM:TO:*FACTOR] or [FROM:TO:+STEP]");
    CHECK(axis("[1:10:2]") == "error: \"[1:10:2]\" is not a range: write [FROM:TO:*FACTOR] or [FROM:TO:+STEP]");
    CHECK(axis("[a,b") == "error: \"[a,b\" lacks its closing bracket");
    CHECK(axis("[]") == "error: an empty value; write [VALUE,VALUE] without blanks");
    CHECK(axis("[a,,b]") == "error: an empty value; write [VALUE,VALUE] without blanks");
    CHECK(axis("") == "error: an empty value; write [VALUE,VALUE] without blanks");
    CHECK(axis("[8:1:*2]") == "error: the range is empty: \"from\" 8 is above \"to\" 1");
    CHECK(axis("[0:8:*2]") == "error: a range with \"factor\" cannot start at 0");
    CHECK(axis("[1:8:*1]") == "error: range \"factor\" must be an integer from 2 on");
    CHECK(axis("[1:8:*4KiB]") == "error: range \"factor\" must be a bare integer");
    CHECK(axis("[1:8:+0]") == "error: range \"step\" must be at least 1");
    CHECK(axis("[1:8:+x]").starts_with("error: range \"step\": \"x\" is not a size"));
    CHECK(axis("[-4:4:+1]").starts_with("error: range \"from\" must be an integer from 0 on"));
    CHECK(axis("[1:100000:+1]") == "error: the range has more than 10000 values or passes 64 bits");
    CHECK(axis("a\xff") == "error: too long, or not plain UTF-8 text");
}

TEST_CASE("ranges end where the numbers do", "[unit]")
{
    CHECK(axis("[1TiB:16777215TiB:*4096]").starts_with("1TiB 4096TiB 16777216") == false);
    CHECK(axis("[4611686018427387904:9223372036854775807:*2]") == "4611686018427387904");
    CHECK(axis("[1:9223372036854775807:*1000000000]") == "1 1000000000 1000000000000000000");
    CHECK(axis("[9223372036854775806:9223372036854775807:+1]") == "9223372036854775806 9223372036854775807");
}

TEST_CASE("cases are the combinations less the exclusions", "[unit]")
{
    const auto plan = plan_of(
        scenario_text(R"("axes": {"size": {"from": "4KiB", "to": "16KiB", "factor": 2}, "mode": ["refcount", "leak"]},
      "exclude": [{"mode": "leak", "size": "8KiB"}],
      "release": {"mode": "${axis.mode}"},
      "steps": [{"op": "alloc", "as": "a", "bytes": "${axis.size}"}])"));
    CHECK(ids(plan) == std::vector<std::string>{"t/mode=refcount/size=4KiB", "t/mode=leak/size=4KiB",
                                                "t/mode=refcount/size=8KiB", "t/mode=refcount/size=16KiB",
                                                "t/mode=leak/size=16KiB"});
    CHECK(plan.axes.size() == 2);
    CHECK(plan.cases[1].release.mode == model::ReleaseMode::leak);
    CHECK(plan.cases[1].params[0].name == "mode");
    CHECK(std::get<model::AllocStep>(plan.cases[4].steps()[0].operation).shape == std::vector<std::uint64_t>{16384});
}

TEST_CASE("a scenario without axes has one case", "[unit]")
{
    CHECK(ids(plan_of(scenario_text(R"("steps": [{"op": "collect"}])"))) == std::vector<std::string>{"t"});
    CHECK(ids(plan_of(scenario_text(R"("axes": {}, "steps": [{"op": "collect"}])"))) == std::vector<std::string>{"t"});
}

TEST_CASE("a value that a placeholder repeats is left out", "[unit]")
{
    const auto plan = plan_of(scenario_text(R"("axes": {"cpus": [1, 4, "${ncpus}"]}, "steps": [{"op": "collect"}])"));
    CHECK(plan.cases.size() == 2);
    CHECK(errors_of(scenario_text(R"("axes": {"cpus": [1, 4, "4"]}, "steps": [{"op": "collect"}])")) ==
          std::vector<std::string>{"2:25: the axis has the value \"4\" twice"});
}

TEST_CASE("an axis shares a release block between modes", "[unit]")
{
    const auto plan = plan_of(scenario_text(R"("axes": {"mode": ["refcount", "finalizer", "deferred_batch", "leak"]},
      "release": {"mode": "${axis.mode}", "batch": 4, "collect_every": 3, "finalizer_threads": 2}, "steps": [{"op": "collect"}])"));
    CHECK(plan.cases.size() == 4);
    CHECK(plan.cases[0].release.batch == 4);
}

TEST_CASE("the error of a step is reported once, not once per case", "[unit]")
{
    const auto errors = errors_of(
        scenario_text(R"("axes": {"n": [0, 1, 2, 3000000000]}, "steps": [{"op": "alloc", "as": "a", "shape": [1],
"count": "${axis.n}"}])"));
    CHECK(errors == std::vector<std::string>{
                        "3:10: \"count\" must be an integer from 1 to 1,000,000,000, not 0 (from \"${axis.n}\")"});
}

TEST_CASE("an error that only a later case has is found", "[unit]")
{
    const auto errors = errors_of(scenario_text(R"("axes": {"n": [1, 2, 3], "target": ["a", "b"]},
"steps": [{"op": "alloc", "as": "a", "shape": [1]}, {"op": "drop", "target": "${axis.target}"}])"));
    CHECK(errors == std::vector<std::string>{"3:78: no step before this one allocates \"b\"; did you mean \"a\"?"});
}

}  // namespace memsweep::test
