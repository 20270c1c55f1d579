// Makes a comparison again from the result alone. The result keeps what it was measured to compare, so `memsweep
// report` says what `memsweep run --against` said.
//
// Sources  the overrides of a run, whose keys that begin with "judged." say which two values of an axis were compared
//          and by what: "judged.base": "build=base", "judged.candidate": "build=candidate",
//          "judged.threshold.wall_time": "0.05 0 inf" (the fraction of the base, the amount, the most that the fraction
//          allows; the metric's unit), "judged.metrics", "judged.informational" and "judged.informational_units": names
//          with blanks between them, "judged.points" and "judged.strict_counters": "true".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

// How the keys begin. These keys say how figures are judged, not how they were measured. So two results that differ
// only in them are alike.
inline constexpr std::string_view judged_prefix = "judged.";

[[nodiscard]] std::map<std::string, std::string>
record_comparison(const model::RatioOf& base, const model::RatioOf& candidate, const Criteria& criteria);

// Empty: the result was not measured to compare two programs, or nothing of one of them was measured. An earlier
// memsweep kept only the command line; its results are judged by the defaults.
[[nodiscard]] std::optional<Comparison> recorded_comparison(const model::RunReport& report);

}  // namespace memsweep::measure
