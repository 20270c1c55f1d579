// The findings about the hosts of a fleet, in words; measure::FleetJudgement has the values.
#pragma once

#include <string>
#include <vector>

#include "core/measure/fleet.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::reporters {

// Describes an outlier: "bandwidth of probe_bandwidth/kernel=read,...: 11.2 GB/s instead of 22.4 GB/s (0.50x, z -31.0,
// q 1e-09)"
[[nodiscard]] std::string outlier_text(const model::Fleet& fleet, const measure::Outlier& outlier);

// Says which hosts are not judged: "2 hosts with AMD EPYC 7763, 64 cores: too few of a kind to compare with each other"
[[nodiscard]] std::string small_kind_text(const measure::SmallKind& kind);

[[nodiscard]] std::vector<Statement> fleet_statements(const model::Fleet& fleet,
                                                      const measure::FleetJudgement& judgement);

}  // namespace memsweep::reporters
