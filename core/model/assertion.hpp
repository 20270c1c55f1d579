// Assertions of a scenario about its own results, such as `after_drop.live_bytes.max == 0B`, `wall_time.median < 2ms`
// or `ratio(wall_time.median, mode=finalizer, mode=refcount) >= 1.2`.
//
// Grammar  An assertion is one of
//            [point "."] metric "." stat op number [unit]
//            "ratio(" metric "." stat "," AXIS=V "," AXIS=V ")" op number
//            "slope(" metric "." stat "," AXIS=V "," AXIS=V ")" op number
//            "explained(" AXIS=V "," AXIS=V ")" op number
//          stat = min|max|mean|median|p(NN)|mad|mdape|ci_lo|ci_hi; op = < <= > >= == !=
//          AXIS=V, as in mode=refcount: the case with this value of this axis. ratio: the metric of the first case
//          divided by that of the second.
//          slope: the change of the metric from the first case to the second, divided by the change of the axis value.
//          So costs that are the same in both cases cancel out.
//          explained: the first case takes longer than the second. The value is the share of this extra time that has a
//          measured cause, such as page faults.
// Errors   invalid_input: a part that does not parse, an unknown metric (with a suggestion), or a unit that does not
//          fit the metric.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/metric.hpp"
#include "core/model/scalar.hpp"

namespace memsweep::model {

enum class Stat : std::uint8_t { min, max, mean, median, percentile, mad, mdape, ci_lo, ci_hi };
enum class Comparison : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };
enum class Severity : std::uint8_t { fail, warn };

template <>
inline constexpr auto name_table<Severity> = std::to_array<Named<Severity>>({
    {Severity::fail, "fail", "a broken assertion fails its case and the run"},
    {Severity::warn, "warn", "a broken assertion is reported and fails nothing"},
});

struct RatioOf {
    std::string axis;  // one of the two cases of a ratio or a slope; the two may name different axes
    std::string value;
};

struct Expression {
    std::string point;  // empty: a metric of the whole repetition
    std::string metric;
    Stat stat{Stat::median};
    double percentile{};                               // for Stat::percentile, 0..100
    std::optional<std::pair<RatioOf, RatioOf>> ratio;  // the two cases of a ratio, a slope or explained(...)
    bool explained{};       // explained(...): the explained share of the first case's extra time, instead of a metric
    double slope_length{};  // of a slope: the second axis value minus the first; 0: no slope
    Comparison comparison{};
    double limit{};  // in the metric's own unit
    Unit unit{Unit::one};
};

[[nodiscard]] base::Expected<Expression> parse_expression(std::string_view text);

struct Assertion {
    std::vector<Param> where;  // it applies only to cases with all these parameters; empty: to all cases
    std::string text;
    Expression expression;
    Severity severity{Severity::fail};
    bool abort{};       // if the assertion fails, the run ends early
    std::string place;  // in the scenario: file:line:col
};

// Whether the comparison is true, with `actual` on its left and `limit` on its right.
[[nodiscard]] bool holds(Comparison comparison, double actual, double limit);

}  // namespace memsweep::model
