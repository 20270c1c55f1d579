// What the plan of fixtures/good/everything.jsonc holds, value by value.
#include <algorithm>

#include "scenarios/fingerprint.hpp"
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
    CHECK_FALSE(plan.requirements.device);
}

TEST_CASE("memory, release and series of a case", "[unit]")
{
    const Plan plan = everything();
    CHECK(plan.cases.size() == 14);
    const Case& one = case_named(plan, "everything/mode=finalizer/n=3/size=64KiB");
    CHECK(one.scenario == "everything");
    CHECK(one.memory == MemorySpec{ResourceKind::pages, PageKind::thp, 1ULL << 30U, 0});
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
    const auto& steps = case_named(plan, "everything/mode=finalizer/n=3/size=64KiB").steps;
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
    CHECK(endless.error().front().message == "larger than 8388608 bytes, the limit of a scenario file");
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
