// What the plan of fixtures/good/everything.jsonc holds, value by value.
#include <algorithm>

#include <fmt/format.h>

#include "core/model/concat_case.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using namespace std::chrono_literals;
using namespace model;

Plan everything()
{
    auto plan = scenarios::load("good/everything.jsonc", {}, fake_surroundings());
    REQUIRE(plan.has_value());
    return std::move(*plan);
}

const Case& case_named(const Plan& plan, std::string_view id)
{
    const auto found =
        std::find_if(plan.cases.begin(), plan.cases.end(), [&](const Case& one) { return one.id == id; });
    REQUIRE(found != plan.cases.end());
    return *found;
}

}  // namespace

TEST_CASE("labels, settings and requirements", "[unit]")
{
    const Plan plan = everything();
    CHECK(plan.name == "everything");
    CHECK(plan.description == "Every key once: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 ${not_a_placeholder}");
    CHECK(plan.path == "good/everything.jsonc");
    CHECK(plan.sha256.size() == 64);
    CHECK(plan.settings.repetitions == 5);
    CHECK(plan.settings.warmup == 3);
    CHECK(plan.settings.timeout == 6s);
    CHECK(plan.settings.order == Order::shuffled);
    CHECK(plan.settings.seed == 9007199254740993ULL);  // 2^53 + 1: through a double it would be one less
    CHECK(plan.settings.isolation == Isolation::none);
    CHECK(plan.requirements.memory_bytes == 16ULL << 30U);
    CHECK(plan.requirements.numa_nodes == 1);
    CHECK(plan.requirements.devices == 0);
}

TEST_CASE("memory, release and series of a case", "[unit]")
{
    const Plan plan = everything();
    CHECK(plan.cases.size() == 14);
    const Case& one = case_named(plan, "everything/mode=finalizer/n=3/size=64KiB");
    CHECK(one.scenario == "everything");
    CHECK(one.memory ==
          MemorySpec{.resource = ResourceKind::pages, .pages = PageKind::thp, .limit_bytes = 1ULL << 30U});
    CHECK(one.release == ReleaseSpec{.mode = ReleaseMode::finalizer,
                                     .finalizer_threads = 2,
                                     .release_cost_ns = 1500,
                                     .gated = true,
                                     .collect_every = 10,
                                     .batch = 4});
    CHECK(one.series.interval == 2ms);
    CHECK(one.series.live_bytes);
    CHECK_FALSE(one.series.working_set);
}

TEST_CASE("the steps of a case", "[unit]")
{
    const Plan plan = everything();
    const auto& steps = case_named(plan, "everything/mode=finalizer/n=3/size=64KiB").steps();
    REQUIRE(steps.size() == 9);
    const auto& alloc = std::get<AllocStep>(steps[0].operation);
    CHECK(alloc.as == "a");
    CHECK(alloc.count == 3);
    CHECK(alloc.dtype == DType::float32);
    CHECK(alloc.shape == std::vector<std::uint64_t>{3, 16});
    CHECK(alloc.fill == Fill::arange);
    CHECK(alloc.touch == Touch::full);
    CHECK(steps[0].phase == "make");
    CHECK_FALSE(steps[0].timed);
    CHECK(steps[0].where == "good/everything.jsonc:25:5");
    const auto& bytes = std::get<AllocStep>(steps[1].operation);
    CHECK(bytes.dtype == DType::uint8);
    CHECK(bytes.shape == std::vector<std::uint64_t>{65536});
    CHECK(steps[2].timed);
    CHECK(std::get<BinaryStep>(steps[3].operation).function == BinaryFunction::multiply);
    const auto& repeat = std::get<RepeatStep>(steps[5].operation);
    CHECK(repeat.times == 10);
    const auto& inner = std::get<RepeatStep>(repeat.steps[1].operation);
    CHECK(std::get<IdleStep>(inner.steps[0].operation).duration == 0ns);
    CHECK(std::get<SampleStep>(inner.steps[1].operation).name == "at_3");
    CHECK(std::holds_alternative<DrainStep>(steps[8].operation));
}

TEST_CASE("a concat step: the case's own calls, few where nothing is freed, or as it says", "[unit]")
{
    const auto step = [](std::string_view release, std::string_view keys) {
        const auto text = fmt::format(R"("release": {}, "steps": [{{"op": "concat", {}}}])", release, keys);
        return std::get<ConcatStep>(plan_of(scenario_text(text)).cases.front().steps().front().operation);
    };
    const ConcatStep own = step(R"({})", R"("case": "size_100")");
    CHECK(own.what->label == "size_100");
    CHECK(own.warmup == 20);
    CHECK(own.calls == 500);
    const ConcatStep leak = step(R"({"mode": "leak"})", R"("case": "size_100")");
    CHECK(leak.warmup == 1);
    CHECK(leak.calls == 3);
    const ConcatStep said =
        step(R"({"mode": "leak"})", R"("case": "out_int32_1M", "warmup": 0, "calls": 7, "out": "o")");
    CHECK(said.warmup == 0);
    CHECK(said.calls == 7);
    CHECK(said.out == "o");
}

TEST_CASE("concat names an array where its case has one to write to, and stands in no scope", "[unit]")
{
    const auto errors = [](std::string_view steps) {
        return errors_of(scenario_text(fmt::format(R"("steps": [{}])", steps)));
    };
    using Errors = std::vector<std::string>;
    CHECK(errors(R"({"op": "concat", "case": "out_int32_1M", "out": "o"}, {"op": "drop", "target": "o"})") == Errors{});
    CHECK_THAT(errors(R"({"op": "concat", "case": "size_100", "out": "o"}, {"op": "drop", "target": "o"})").at(0),
               Catch::Contains("no step before this one allocates \"o\""));
    CHECK_THAT(errors(R"({"op": "concat", "case": "size_99"})").at(0), Catch::Contains("unknown value \"size_99\""));
    CHECK_THAT(errors(R"({"op": "concat"})").at(0), Catch::Contains("lacks \"case\""));
    CHECK_THAT(errors(R"({"op": "scope", "steps": [{"op": "concat", "case": "size_100"}]})").at(0),
               Catch::Contains("it cannot stand in a scope"));
    CHECK_THAT(
        errors(R"({"op": "repeat", "times": 11, "steps": [{"op": "concat", "case": "size_100", "calls": 100000}]})")
            .at(0),
        Catch::Contains("more than 1000000 timed calls"));
}

TEST_CASE("the axis placement says where a case runs, and takes nothing else", "[unit]")
{
    const std::string text = scenario_text(R"("axes": {"placement": ["alone", "sweep", "drain"], "n": [1]},
"steps": [{"op": "collect"}])");
    const Plan plan = plan_of(text);
    REQUIRE(plan.cases.size() == 3);
    CHECK(plan.cases[0].placement == Placement::alone);
    CHECK(plan.cases[1].placement == Placement::sweep);
    CHECK(plan.cases[2].placement == Placement::drain);
    using Errors = std::vector<std::string>;
    CHECK(errors_of(scenario_text(R"("axes": {"placement": ["alone", "swep"]}, "steps": [{"op": "collect"}])")) ==
          Errors{"2:23: axis \"placement\" cannot be \"swep\"; did you mean \"sweep\"?"});
    scenarios::Overrides overrides;
    overrides.axes = {{"placement", "[alone,1]"}};
    CHECK(errors_of(text, overrides) ==
          Errors{"-a placement=[alone,1]: axis \"placement\" cannot be \"1\"; known: alone, sweep, drain"});
    overrides.axes = {{"placement", "sweep"}};
    CHECK(plan_of(text, overrides).cases.size() == 1);
    overrides = {};
    overrides.isolation = model::Isolation::none;
    CHECK_THAT(errors_of(text, overrides).at(0), Catch::Contains("needs isolation \"process\", not \"none\""));
}

TEST_CASE("huge pages are advised for malloc alone", "[unit]")
{
    const auto memory = [](std::string_view keys) {
        return scenario_text(fmt::format(R"("memory": {{{}}}, "steps": [{{"op": "collect"}}])", keys));
    };
    CHECK(plan_of(memory(R"("huge_pages_from": "4MiB")")).cases.front().memory.huge_pages_from_bytes == 4U << 20U);
    CHECK_THAT(errors_of(memory(R"("resource": "pages", "huge_pages_from": "4MiB")")).at(0),
               Catch::Contains("is for resource \"malloc\", not for \"pages\""));
}

TEST_CASE("assertions", "[unit]")
{
    const Plan plan = everything();
    REQUIRE(plan.assertions.size() == 3);
    const Assertion& second = plan.assertions[1];
    CHECK(second.where.size() == 2);
    CHECK(second.severity == Severity::warn);
    CHECK(second.abort);
    CHECK(second.text == "wall_time.p(95) < 10s");
    CHECK(second.expression.stat == Stat::percentile);
    CHECK(second.place == "good/everything.jsonc:41:5");
    CHECK(plan.assertions[2].expression.ratio.has_value());
}

TEST_CASE("a file that cannot be read is one error", "[unit]")
{
    const auto missing = scenarios::load("no/such.json", {}, fake_surroundings());
    REQUIRE_FALSE(missing.has_value());
    REQUIRE(missing.error().size() == 1);
    CHECK(missing.error().front().code == base::ErrorCode::io);
    const auto directory = scenarios::load("good", {}, fake_surroundings());
    REQUIRE_FALSE(directory.has_value());
    CHECK(directory.error().front().message == "cannot read: Is a directory");
}

TEST_CASE("a stream without end is an error, not a hang", "[unit]")
{
    const auto endless = scenarios::load("/dev/zero", {}, scenarios::Surroundings{});
    REQUIRE_FALSE(endless.has_value());
    CHECK(endless.error().front().message == "is no text: byte 1 is a zero");
}

TEST_CASE("what is legal in names and loops", "[unit]")
{
    // Rebinding, dropping and allocating again, a name used across a loop's passes.
    CHECK(errors_of(scenario_text(R"("steps": [
      {"op": "alloc", "as": "a", "shape": [2]}, {"op": "alloc", "as": "a", "shape": [3]}, {"op": "drop", "target": "a"},
      {"op": "alloc", "as": "a", "shape": [2], "touch": "full", "fill": "ones"},
      {"op": "repeat", "times": 3, "steps": [
        {"op": "binary", "function": "add", "as": "a", "left": "a", "right": "a"},
        {"op": "drop", "target": "a"}, {"op": "alloc", "as": "a", "shape": [2]}]},
      {"op": "repeat", "times": 1, "steps": [{"op": "drop", "target": "a"}]}])")) == std::vector<std::string>{});
}

}  // namespace memsweep::test
