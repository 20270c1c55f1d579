// Repeats the comparison of a run from its saved result alone. The result records the compared values and the criteria,
// so `memsweep report` gives the same verdicts as `memsweep run --against`.
//
// Sources  the overrides of a run, by their keys:
//          - "judged.base", "judged.candidate": the compared values of an axis, such as "build=base".
//          - "judged.threshold.wall_time": "0.05 0 inf", the three numbers of a Threshold.
//          - "judged.metrics", "judged.informational", "judged.informational_units": lists of names, separated by
//            blanks.
//          - "judged.points", "judged.strict_counters": "true".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

// All keys above begin with this prefix. Their values say how a result is judged, not how it was measured. So two
// results that differ only in the values of such keys can still be compared.
inline constexpr std::string_view judged_prefix = "judged.";

// Returns the overrides, by key, that record a comparison in the result of its run.
[[nodiscard]] std::map<std::string, std::string>
record_comparison(const model::RatioOf& base, const model::RatioOf& candidate, const Criteria& criteria);

// Repeats the comparison. Returns nullopt if the run compared nothing, or if one side has no measured case. Results of
// earlier memsweep versions record only the command line: they are judged by the default criteria.
[[nodiscard]] std::optional<Comparison> recorded_comparison(const model::RunReport& report);

}  // namespace memsweep::measure
