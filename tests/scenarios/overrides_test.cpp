// What -a, --set and the named flags change.
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

const std::string text =
    scenario_text(R"("variables": {"count": 3, "tag": "x"}, "repetitions": 5, "warmup": 2, "seed": 9,
"axes": {"mode": ["refcount", "leak"], "size": ["4KiB", "8KiB"]},
"exclude": [{"mode": "leak", "size": "8KiB"}],
"release": {"mode": "${axis.mode}"},
"steps": [{"op": "alloc", "as": "a", "count": "${count}", "bytes": "${axis.size}"}, {"op": "sample", "name": "end"}],
"assert": [{"where": {"mode": "leak"}, "expr": "end.live_bytes.max > 0B"}])");

scenarios::Overrides axes(std::string name, std::string value)
{
    scenarios::Overrides overrides;
    overrides.axes.emplace_back(std::move(name), std::move(value));
    return overrides;
}

scenarios::Overrides variable(std::string name, std::string value)
{
    scenarios::Overrides overrides;
    overrides.variables.emplace_back(std::move(name), std::move(value));
    return overrides;
}

std::uint64_t count_of(const model::Plan& plan)
{
    return std::get<model::AllocStep>(plan.cases.at(0).steps().at(0).operation).count;
}

using Errors = std::vector<std::string>;

}  // namespace

TEST_CASE("an axis is replaced, and patterns about its old values still stand", "[unit]")
{
    CHECK(plan_of(text).cases.size() == 3);
    const auto plan = plan_of(text, axes("mode", "[refcount]"));
    CHECK(plan.cases.size() == 2);
    CHECK(plan.assertions.size() == 1);
    CHECK(plan.axes[0].values.size() == 1);
    CHECK(plan_of(text, axes("mode", "finalizer")).cases.size() == 2);
    CHECK(plan_of(text, axes("size", "[1KiB:1MiB:*2]")).cases.size() == 21);  // 2 x 11, less leak with 8KiB
    CHECK(plan_of(text, axes("size", "[4096,${page_size}]")).cases.size() == 2);
}

TEST_CASE("axis overrides that cannot be", "[unit]")
{
    CHECK(errors_of(text, axes("mod", "[refcount]")) ==
          Errors{"-a mod=[refcount]: the scenario has no axis \"mod\"; its axes: mode, size"});
    CHECK(errors_of(text, axes("placement", "alone")) ==
          Errors{"-a placement=alone: the scenario has no axis \"placement\"; its axes: mode, size"});
    CHECK(errors_of(text, axes("allocator", "glibc")) ==
          Errors{"-a allocator=glibc: the scenario has no axis \"allocator\"; its axes: mode, size"});
    CHECK(errors_of(text, axes("mode", "[refcount,refcount]")) ==
          Errors{"-a mode=[refcount,refcount]: the axis has the value \"refcount\" twice"});
    CHECK(errors_of(text, axes("size", "[1:10]")) ==
          Errors{"-a size=[1:10]: \"[1:10]\" is not a range: write [FROM:TO:*FACTOR] or [FROM:TO:+STEP]"});
    CHECK(
        errors_of(text, axes("mode", "garbage")) ==
        Errors{"-a mode=garbage: \"mode\": unknown value \"garbage\" (from \"${axis.mode}\" at t:5:21); known: "
               "immediate, refcount, "
               "cycle, finalizer, cleaner, sweep, explicit, must_free, unsafe_free, finalize_now, arena, "
               "arena_autoscale, arena_checked, pool, preallocated, tls_cache, forward, deferred_batch, stack, leak"});
    CHECK(errors_of(scenario_text(R"("steps": [{"op": "collect"}])"), axes("mode", "leak")) ==
          Errors{"-a mode=leak: the scenario has no axes"});
    scenarios::Overrides all_excluded = axes("mode", "leak");
    all_excluded.axes.emplace_back("size", "8KiB");
    CHECK(errors_of(text, all_excluded) == Errors{"4:12: every combination of the axes is excluded"});
}

TEST_CASE("a variable is replaced, with the type that the text has", "[unit]")
{
    CHECK(count_of(plan_of(text)) == 3);
    CHECK(count_of(plan_of(text, variable("count", "50"))) == 50);
    CHECK(count_of(plan_of(text, variable("count", "${ncpus}"))) == 4);
    CHECK(errors_of(text, variable("count", "many")) ==
          Errors{
              "--set count=many: \"count\" must be an integer from 1 to 1,000,000,000, not \"many\" (from \"${count}\" "
              "at t:6:47)"});
    CHECK(errors_of(text, variable("count", "1.0")) ==
          Errors{"--set count=1.0: \"count\" must be an integer from 1 to 1,000,000,000, not 1.0 (from \"${count}\" at "
                 "t:6:47)"});
    CHECK(errors_of(scenario_text(R"("variables": {"m": "leak"}, "release": {"mode": "un${m}"},
                                     "steps": [{"op": "collect"}])"),
                    variable("m", "known"))
              .front()
              .starts_with("--set m=known: \"mode\": unknown value \"unknown\" (from \"un${m}\" at t:"));
    CHECK(errors_of(text, variable("cuont", "5")) ==
          Errors{"--set cuont=5: unknown variable \"cuont\"; did you mean \"count\"?"});
    CHECK(errors_of(text, variable("count", "${tag}"))
              .front()
              .starts_with("--set count=${tag}: unknown name \"tag\" here"));
    CHECK(errors_of(text, variable("count", "\xff")) == Errors{"--set count=\\xff: the value is not plain UTF-8 text"});
    CHECK(errors_of(scenario_text(R"("steps": [{"op": "collect"}])"), variable("count", "5")) ==
          Errors{"--set count=5: the scenario has no variables"});
}

TEST_CASE("named flags win over the file", "[unit]")
{
    const model::Settings before = plan_of(text).settings;
    CHECK(before.repetitions == 5);
    CHECK(before.warmup == 2);
    CHECK(before.seed == 9);
    CHECK(before.isolation == model::Isolation::process);
    scenarios::Overrides overrides;
    overrides.repetitions = 7;
    overrides.warmup = 0;
    overrides.seed = UINT64_MAX;
    overrides.isolation = model::Isolation::none;
    overrides.timeout = std::chrono::seconds{3};
    const model::Settings after = plan_of(text, overrides).settings;
    CHECK(after.repetitions == 7);
    CHECK(after.warmup == 0);
    CHECK(after.seed == UINT64_MAX);
    CHECK(after.isolation == model::Isolation::none);
    CHECK(after.timeout == std::chrono::seconds{3});
}

TEST_CASE("named flags keep to the bounds of the file's settings", "[unit]")
{
    scenarios::Overrides overrides;
    overrides.repetitions = 0;
    overrides.warmup = 1'001;
    overrides.timeout = std::chrono::hours{25};
    CHECK(errors_of(text, overrides) == Errors{"--repetitions 0: must be an integer from 1 to 100,000",
                                               "--timeout 90000000000000ns: must be a duration from 1ms to 24h",
                                               "--warmup 1001: must be an integer from 0 to 1,000"});
}

TEST_CASE("the largest seed is read whole, and -1 is not taken for it", "[unit]")
{
    const auto with_seed = [](std::string_view seed) {
        return scenario_text("\"seed\": " + std::string{seed} + R"(, "steps": [{"op": "collect"}])");
    };
    CHECK(plan_of(with_seed("18446744073709551615")).settings.seed == UINT64_MAX);
    CHECK(errors_of(with_seed("-1")) ==
          Errors{"2:9: \"seed\" must be an integer from 0 to 18446744073709551615, not -1"});
}

}  // namespace memsweep::test
