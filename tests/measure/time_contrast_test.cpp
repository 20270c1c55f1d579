#include "core/measure/time_contrast.hpp"

#include <array>

#include "core/measure/assertions.hpp"
#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::measure {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using model::CaseReport;

struct Spent {
    double wall, faults, allocator, waiting, count, run_delay;
};

// Ten operations of one case; `spent` is of all of them.
CaseReport spending(const char* mode, const Spent& spent)
{
    return case_report({{"mode", mode}},
                       {metric("wall_time", {spent.wall}), metric("time_per_op", {spent.wall / 10}),
                        metric("operations", {10.0}), metric("faults_per_op", {spent.count / 10}),
                        metric("fault_time", {spent.faults}), metric("allocator_time", {spent.allocator}),
                        metric("collector_wait_time", {spent.waiting}), metric("run_delay_time", {spent.run_delay})});
}

const CaseReport base =
    spending("refcount", {.wall = 10e-3, .faults = 0, .allocator = 1e-3, .waiting = 0, .count = 0, .run_delay = 0});
const CaseReport slow =
    spending("finalizer",
             {.wall = 60e-3, .faults = 30e-3, .allocator = 11e-3, .waiting = 5e-3, .count = 39070, .run_delay = 1e-3});

}  // namespace

TEST_CASE("extra time is split into its causes, per operation", "[unit]")
{
    const auto found = attribute(base, slow);
    REQUIRE(found);
    CHECK(found->per_operation);
    CHECK(found->extra == Approx(5e-3));
    CHECK(found->faults == Approx(3e-3));
    CHECK(found->allocator.value_or(0) == Approx(1e-3));
    CHECK(found->waiting.value_or(0) == Approx(0.5e-3));
    CHECK(found->run_delay.value_or(0) == Approx(0.1e-3));
    CHECK(found->unexplained == Approx(0.4e-3));
    CHECK(found->explained == Approx(0.92));
    CHECK(found->extra_faults == Approx(3907));
    CHECK(cause_text(*found) == "page faults explain 60 % of the extra time (3,907 more faults per array at 767.9 ns "
                                "each), calls into the allocator 20 %, waiting for the collector 10 %, waiting for a "
                                "processor 2 %; 8 % is unexplained");
}

TEST_CASE("as many faults that took longer are not told as more of them", "[unit]")
{
    const CaseReport cheap = spending(
        "refcount", {.wall = 47e-3, .faults = 4e-3, .allocator = 1e-3, .waiting = 0, .count = 20000, .run_delay = 0});
    const Spent dearer{.wall = 51e-3, .faults = 5e-3, .allocator = 1e-3, .waiting = 0, .count = 20001, .run_delay = 0};
    const auto found = attribute(cheap, spending("finalizer", dearer));
    REQUIRE(found);
    CHECK_THAT(cause_text(*found),
               Contains("page faults explain 25 % of the extra time (each took 250.0 ns instead of 200.0 ns)"));
    Spent fewer = dearer;
    fewer.count = 19999;
    const auto of_fewer = attribute(cheap, spending("finalizer", fewer));
    REQUIRE(of_fewer);
    CHECK_THAT(cause_text(*of_fewer), Contains("25 % of the extra time (each took 250.0 ns instead of 200.0 ns)"));
}

TEST_CASE("a part that others make up for is told as a time", "[unit]")
{
    CHECK(cause_text({.extra = 180e-6,
                      .faults = 3.6e-6,
                      .allocator = -471.6e-6,
                      .waiting = 644.4e-6,
                      .run_delay = 36e-6,
                      .unexplained = 3.6e-6,
                      .explained = 0.98,
                      .extra_faults = 1}) ==
          "page faults explain 2 % of the extra time (1 more faults at 3.60 us each), calls into the allocator took "
          "471.6 us "
          "less, waiting for the collector took 644.4 us more, waiting for a processor 20 %; 2 % is unexplained");
}

TEST_CASE("where parts took less than before, no more than all of the extra time is unexplained", "[unit]")
{
    const Attribution attribution{.extra = 80e-6, .allocator = -110e-6, .run_delay = 1e-6, .unexplained = 189e-6};
    CHECK_THAT(cause_text(attribution), EndsWith("waiting for a processor 1 %; all of it is unexplained"));
}

TEST_CASE("parts that add up to all of the extra time, or to a little more, leave nothing unexplained", "[unit]")
{
    const auto text = [](double faults, double allocator) {
        return cause_of(base, spending("finalizer", {.wall = 60e-3,
                                                     .faults = faults,
                                                     .allocator = allocator,
                                                     .waiting = 0,
                                                     .count = 39070,
                                                     .run_delay = 0}));
    };
    CHECK_THAT(text(30e-3, 21e-3), EndsWith("calls into the allocator 40 %; nothing is left unexplained"));
    CHECK_THAT(text(44e-3, 16e-3), EndsWith("calls into the allocator 30 %; nothing is left unexplained (the parts are "
                                            "measured one by one and add up to 118 %)"));
    CHECK_THAT(text(57.5e-3, 1e-3), EndsWith("each come to 115 % of it)"));
}

TEST_CASE("parts that add up to much more than all of the extra time are no shares of it", "[unit]")
{
    // Faults 97 %, and waits that the same machine made: of two parts, of three, and of one alone.
    const std::array<Spent, 4> busy{
        {{.wall = 60e-3, .faults = 48.5e-3, .allocator = 34e-3, .waiting = 0, .count = 39070, .run_delay = 0},
         {.wall = 60e-3, .faults = 48.5e-3, .allocator = 11e-3, .waiting = 10e-3, .count = 39070, .run_delay = 13e-3},
         {.wall = 60e-3, .faults = 81.5e-3, .allocator = 1e-3, .waiting = 0, .count = 39070, .run_delay = 0},
         {.wall = 60e-3, .faults = 0, .allocator = 1e-3, .waiting = 0, .count = 0, .run_delay = 81.5e-3}}};
    for (const Spent& spent : busy) {
        const CaseReport found = spending("finalizer", spent);
        CHECK_THAT(cause_of(base, found), Contains("the machine was too busy to split the extra time") &&
                                              Contains(" of it") && !Contains("explain") && !Contains("unexplained"));
        CHECK(attribute(base, found)->explained > 1.2);  // the numbers stay in the result
    }
    CHECK_THAT(cause_of(base, spending("finalizer", busy[0])), EndsWith("add up to 163 % of it"));
    // What others make up for is a split still.
    CHECK_THAT(
        cause_of(
            base,
            spending(
                "finalizer",
                {.wall = 11e-3, .faults = 1.5e-3, .allocator = 0.5e-3, .waiting = 0, .count = 390, .run_delay = 0})),
        Contains("explain all of the extra time"));
}

TEST_CASE("what a busy machine added is told as shares where these can be", "[unit]")
{
    const MachineContrast machine{.extra = 8e-3,
                                  .run_delay = 7.04e-3,
                                  .fault_price = 0.8e-3,
                                  .price_before = 500e-9,
                                  .price_after = 900e-9,
                                  .wall_left = {}};
    CHECK(reporters::machine_text(machine, 80e-3) ==
          "of 8.00 ms more, waiting for a processor explains 88 % (7.04 ms), page faults at 900.0 ns each instead of "
          "500.0 ns explain 10 % (800.0 us); what is left, 0.2 % of the base, is");
    MachineContrast busier = machine;
    busier.run_delay = 12e-3;
    CHECK(
        reporters::machine_text(busier, 80e-3) ==
        "of 8.00 ms more, waiting for a processor took 12.0 ms more, page faults at 900.0 ns each instead of 500.0 ns "
        "took 800.0 us more: it was too busy to split them; what is left, -6.0 % of the base, is");
}

TEST_CASE("what was not measured stays unexplained, what took no longer needs no cause", "[unit]")
{
    CaseReport unmeasured = slow;
    std::erase_if(unmeasured.metrics, [](const auto& one) { return one.name == "allocator_time"; });
    const auto found = attribute(base, unmeasured);
    REQUIRE(found);
    CHECK_FALSE(found->allocator);
    CHECK(found->explained == Approx(0.72));
    CHECK_FALSE(attribute(slow, base));
    CHECK_FALSE(attribute(base, base));
    CHECK(cause_of(slow, base).empty());
}

TEST_CASE("calls are split by their mean, since a median of them may not have faulted", "[unit]")
{
    CaseReport calls = slow;
    calls.operation = model::CountedOperation::call;
    for (model::Metric& one : calls.metrics) {
        if (one.name == "time_per_op") {
            one = metric("time_per_op", {1.1e-3});
        }
    }
    const auto found = attribute(base, calls);
    REQUIRE(found);
    CHECK(found->extra == Approx(5e-3));
    CHECK(found->explained == Approx(0.92));
    CHECK_THAT(cause_text(*found), Contains("3,907 more faults per call"));
}

TEST_CASE("a case without a collector waits for none", "[unit]")
{
    CaseReport alone = base;
    std::erase_if(alone.metrics, [](const auto& one) { return one.name == "collector_wait_time"; });
    CHECK(attribute(alone, slow)->waiting.value_or(0) == Approx(0.5e-3));
}

TEST_CASE("explained(...) asserts on the share that has a cause", "[unit]")
{
    const auto judge = [](const char* text) {
        model::Assertion assertion;
        assertion.text = text;
        assertion.expression = *model::parse_expression(text);
        const auto results = evaluate({assertion}, {base, slow});
        REQUIRE(results.size() == 1);
        return results.front();
    };
    const auto held = judge("explained(mode=finalizer, mode=refcount) >= 0.85");
    CHECK(held.outcome == model::AssertionOutcome::passed);
    CHECK(held.actual.value_or(0) == Approx(0.92));
    CHECK(judge("explained(mode=finalizer, mode=refcount) >= 0.95").outcome != model::AssertionOutcome::passed);
    const auto none = judge("explained(mode=refcount, mode=finalizer) >= 0.85");
    CHECK(none.outcome != model::AssertionOutcome::passed);
    CHECK_THAT(none.reason, Contains("took no longer"));
    CHECK_FALSE(model::parse_expression("explained(mode=finalizer) >= 0.85"));
    CHECK_FALSE(model::parse_expression("explained(wall_time.median, mode=a, mode=b) >= 0.85"));
}

}  // namespace memsweep::measure
