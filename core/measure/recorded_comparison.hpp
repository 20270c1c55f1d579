// Repeats the comparison of a run from its saved result alone. The result records the compared values and the criteria,
// so `memsweep report` gives the same verdicts as `memsweep run --against`.
//
// Sources  the overrides of a run, by their keys:
//          - "judged.base", "judged.candidate": the compared values of an axis, such as "build=base".
//          - "judged.threshold.wall_time": "0.05 0 inf", the three numbers of a Threshold.
//          - "judged.metrics", "judged.informational", "judged.informational_units": names with blanks between them.
//          - "judged.points", "judged.strict_counters": "true".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

// The prefix of these keys. They say how figures are judged, not how they were measured. So two results that differ
// only in these keys can still be compared.
inline constexpr std::string_view judged_prefix = "judged.";

[[nodiscard]] std::map<std::string, std::string>
record_comparison(const model::RatioOf& base, const model::RatioOf& candidate, const Criteria& criteria);

// nullopt if the run compared nothing, or if one side has no measured case. Results of earlier memsweep versions record
// only the command line: they are judged by the default criteria.
[[nodiscard]] std::optional<Comparison> recorded_comparison(const model::RunReport& report);

}  // namespace memsweep::measure
