#include <string>
#include <utility>
#include <vector>

#include "core/model/assertion.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::model;
using Catch::Matchers::Contains;

namespace {

Expression parsed(std::string_view text)
{
    const auto expression = parse_expression(text);
    INFO((expression ? std::string{} : expression.error().message));
    REQUIRE(expression.has_value());
    return *expression;
}

std::string refused(std::string_view text)
{
    const auto expression = parse_expression(text);
    INFO(text);
    REQUIRE_FALSE(expression.has_value());
    CHECK(expression.error().code == base::ErrorCode::invalid_input);
    CHECK_THAT(expression.error().message, Contains(std::string{text}));
    return expression.error().message;
}

}  // namespace

TEST_CASE("an assertion names a point, a metric, a statistic and a limit", "[unit]")
{
    const Expression point = parsed("after_drop.live_bytes.max == 0B");
    CHECK(point.point == "after_drop");
    CHECK(point.metric == "live_bytes");
    CHECK(point.stat == Stat::max);
    CHECK(point.comparison == Comparison::equal);
    CHECK(point.limit == 0);
    CHECK(point.unit == Unit::bytes);

    const Expression whole = parsed("  wall_time . median<2ms ");
    CHECK(whole.point.empty());
    CHECK(whole.metric == "wall_time");
    CHECK(whole.comparison == Comparison::less);
    CHECK(whole.limit == 0.002);
    CHECK(whole.unit == Unit::seconds);

    CHECK(parsed("latency.median <= 1.25ns").limit == 1.25 * 1e-9);
    for (const char* text : {".5ns", "1.2.3ns", "-1.5ns", "1e-1ns", "1.5 ns"}) {
        CHECK_THAT(refused("latency.median <= " + std::string{text}), Contains(text));
    }
}

TEST_CASE("every statistic and every comparison is read", "[unit]")
{
    const std::vector<std::pair<std::string, Stat>> stats{
        {"min", Stat::min}, {"max", Stat::max},          {"mean", Stat::mean},   {"median", Stat::median},
        {"mad", Stat::mad}, {"p(95)", Stat::percentile}, {"ci_lo", Stat::ci_lo}, {"ci_hi", Stat::ci_hi}};
    for (const auto& [name, stat] : stats) {
        CHECK(parsed("wall_time." + name + " < 1s").stat == stat);
    }
    const std::vector<std::pair<std::string, Comparison>> signs{
        {"<", Comparison::less},           {"<=", Comparison::less_equal}, {">", Comparison::greater},
        {">=", Comparison::greater_equal}, {"==", Comparison::equal},      {"!=", Comparison::not_equal}};
    for (const auto& [sign, comparison] : signs) {
        CHECK(parsed("minor_faults.max " + sign + " 64").comparison == comparison);
        CHECK(parsed("minor_faults.max" + sign + "64").comparison == comparison);
    }
}

TEST_CASE("a percentile carries its number", "[unit]")
{
    CHECK(parsed("wall_time.p(99.9) < 1s").percentile == 99.9);
    CHECK(parsed("after_drop.working_set.p( 5 ) < 1GiB").percentile == 5);
    for (const char* text :
         {"wall_time.p(101) < 1s", "wall_time.p(-1) < 1s", "wall_time.p() < 1s", "wall_time.p95 < 1s",
          "wall_time.p(95 < 1s", "wall_time.p < 1s", "wall_time.p(nan) < 1s"}) {
        CHECK_THAT(refused(text), Contains("p(95)"));
    }
}

TEST_CASE("the limit is in the metric's unit", "[unit]")
{
    CHECK(parsed("working_set_peak.max < 16MiB").limit == 16.0 * 1024 * 1024);
    CHECK(parsed("working_set_peak.max < 4096").limit == 4096);
    CHECK(parsed("minor_faults.median <= 1e3").limit == 1000);
    CHECK(parsed("faults_over_expected.min >= -10").limit == -10);
    CHECK(parsed("wall_time.mdape < 0.05").unit == Unit::one);
    CHECK(parsed("working_set_peak.mdape < 0.05").limit == 0.05);
}

TEST_CASE("a limit of another unit is refused", "[unit]")
{
    CHECK_THAT(refused("wall_time.median < 0"), Contains("never bare"));
    CHECK_THAT(refused("wall_time.median < 2.5"), Contains("2.5ms"));
    CHECK_THAT(refused("wall_time.median < 16MiB"), Contains("not a duration"));
    CHECK_THAT(refused("working_set_peak.max < 2ms"), Contains("not a size"));
    CHECK_THAT(refused("working_set_peak.max < 8M"), Contains("not a size"));
    CHECK_THAT(refused("working_set_peak.max < 8 MiB"), Contains("not a size"));
    CHECK_THAT(refused("working_set_peak.max > -1"), Contains("not a size"));
    CHECK_THAT(refused("minor_faults.max < 4B"), Contains("plain number"));
    CHECK_THAT(refused("minor_faults.max < inf"), Contains("plain number"));
    CHECK_THAT(refused("wall_time.mdape < 5ms"), Contains("plain number"));
    CHECK_THAT(refused("minor_faults.max <"), Contains("nothing to compare"));
}

TEST_CASE("unknown words are refused with a suggestion", "[unit]")
{
    CHECK_THAT(refused("wall_tme.median < 1s"), Contains("did you mean \"wall_time\"?"));
    CHECK_THAT(refused("after_drop.live_byte.max == 0B"), Contains("did you mean \"live_bytes\"?"));
    CHECK_THAT(refused("wall_time.medain < 1s"), Contains("did you mean \"median\"?"));
    CHECK_THAT(refused("after_drop.wall_time.max < 1s"), Contains("write wall_time.median"));
    CHECK_THAT(refused("live_bytes.max == 0B"), Contains("POINT.live_bytes.max"));
    CHECK_THAT(refused("after_drop.live_bytes == 0B"), Contains("did you mean after_drop.live_bytes.max?"));
    CHECK_THAT(refused("live_bytes == 0B"), Contains("did you mean POINT.live_bytes.max?"));
    CHECK_THAT(refused("wall_time < 1s"),
               Contains("min, max, mean, median") && Contains("did you mean wall_time.median?"));
}

TEST_CASE("what does not parse is refused with the form that would", "[unit]")
{
    for (const char* text : {"", "a.b.c.d < 1", ".median < 1s", "wall_time. < 1s", "< 1s"}) {
        CHECK_THAT(refused(text), Contains("METRIC.STAT"));
    }
    CHECK_THAT(refused("wall_time.median"), Contains("comparison is missing"));
    CHECK_THAT(refused("wall_time.median = 1s"), Contains("before \"= 1s\""));
    CHECK_THAT(refused("wall_time.median 1s"), Contains("before \"1s\""));
}

TEST_CASE("a slope lies between two numbers of one axis", "[unit]")
{
    const Expression slope = parsed("slope(outstanding.max, calls=10, calls=20) < 0.5");
    REQUIRE(slope.ratio.has_value());
    CHECK(slope.slope_length == 10);
    CHECK(slope.unit == Unit::one);
    CHECK(parsed("ratio(wall_time.median, calls=10, calls=20) < 1").slope_length == 0);
    CHECK_THAT(refused("slope(outstanding.max, calls=10, calls=10) < 1"), Contains("are the same"));
    CHECK_THAT(refused("slope(outstanding.max, calls=10, turns=20) < 1"), Contains("two numbers of one axis"));
    CHECK_THAT(refused("slope(outstanding.max, mode=a, mode=b) < 1"), Contains("two numbers of one axis"));
    CHECK_THAT(refused("slope(outstanding.max, calls=10) < 1"), Contains("a slope is written slope("));
}

TEST_CASE("a ratio compares the cases of two axis values", "[unit]")
{
    const Expression ratio = parsed("ratio(wall_time.median, mode=finalizer, mode = refcount) >= 1.2");
    REQUIRE(ratio.ratio.has_value());
    CHECK(ratio.metric == "wall_time");
    CHECK(ratio.ratio->first.axis == "mode");
    CHECK(ratio.ratio->first.value == "finalizer");
    CHECK(ratio.ratio->second.axis == "mode");
    CHECK(ratio.ratio->second.value == "refcount");
    CHECK(ratio.unit == Unit::one);
    CHECK(ratio.limit == 1.2);
    CHECK(parsed("ratio(after_drop.working_set.p(95), a=1, b=2.5) < 2").point == "after_drop");
    CHECK(parsed("ratio(after_drop.working_set.p(95), a=1, b=2.5) < 2").ratio->second.value == "2.5");
}

TEST_CASE("a malformed ratio is refused", "[unit]")
{
    CHECK_THAT(refused("ratio(wall_time.median, mode=a) > 1"), Contains("ratio(METRIC.STAT, AXIS=VALUE, AXIS=VALUE)"));
    CHECK_THAT(refused("ratio(wall_time.median, mode=a, mode=b > 1"), Contains("ratio(METRIC.STAT"));
    CHECK_THAT(refused("ratio(wall_time.median, mode, mode=b) > 1"), Contains("AXIS=VALUE"));
    CHECK_THAT(refused("ratio(wall_time.median, mode==a, mode=b) > 1"), Contains("AXIS=VALUE"));
    CHECK_THAT(refused("ratio(wall_time.median, mode=a, mode=a) > 1"), Contains("same"));
    CHECK_THAT(refused("ratio(wall_time.median, mode=a, mode=b) > 1ms"), Contains("plain number"));
    CHECK_THAT(refused("ratio(wal_time.median, mode=a, mode=b) > 1"), Contains("did you mean"));
}

TEST_CASE("comparisons hold as written", "[unit]")
{
    CHECK(holds(Comparison::less, 1, 2));
    CHECK_FALSE(holds(Comparison::less, 2, 2));
    CHECK(holds(Comparison::less_equal, 2, 2));
    CHECK(holds(Comparison::greater, 3, 2));
    CHECK_FALSE(holds(Comparison::greater, 2, 2));
    CHECK(holds(Comparison::greater_equal, 2, 2));
    CHECK(holds(Comparison::equal, 0, 0));
    CHECK_FALSE(holds(Comparison::equal, 0, 1));
    CHECK(holds(Comparison::not_equal, 0, 1));
    CHECK_FALSE(holds(Comparison::not_equal, 1, 1));
}

TEST_CASE("severities are named", "[unit]")
{
    CHECK(value_of<Severity>("warn") == Severity::warn);
    CHECK(name_of(Severity::fail) == "fail");
}
