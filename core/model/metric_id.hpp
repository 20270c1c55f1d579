// The metrics of a whole repetition as an enumeration, for code that must know all of them at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memsweep::model {

enum class MetricId : std::uint8_t {
#define MEMSWEEP_METRIC(name, ...) name,
#include "core/model/metrics.inc"
#undef MEMSWEEP_METRIC
};

inline constexpr std::size_t metric_count = 0
// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum
#define MEMSWEEP_METRIC(name, ...) +1
#include "core/model/metrics.inc"
#undef MEMSWEEP_METRIC
    ;

// The names of the metrics as in results and scenarios: metrics::wall_time is "wall_time".
namespace metrics {
#define MEMSWEEP_METRIC(name, ...) inline constexpr std::string_view name{#name};
#include "core/model/metrics.inc"
#undef MEMSWEEP_METRIC
}  // namespace metrics

// The metric's index in metric_catalog().
[[nodiscard]] constexpr std::size_t index_of(MetricId metric)
{
    return static_cast<std::size_t>(metric);
}

// The metric with this name; empty if the name is unknown.
[[nodiscard]] std::optional<MetricId> metric_id(std::string_view name);

}  // namespace memsweep::model
