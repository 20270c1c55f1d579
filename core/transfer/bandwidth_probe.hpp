// Bandwidth of memory from the processors beside it: every kernel with plain and non-temporal stores and by the C
// library, by one thread and by all.
//
// Sources  rounds over all cases, so that a drift of the machine meets all alike; each case by the loop that a
//          calibration on these arrays found fastest. Data are checked: every element of a run before the samples, and
//          the sum of every read.
// Cost     of 34 cases some 8 s by default, a quarter of it for calibration.
// Memory   three arrays, touched before anything is timed: see memory_array_bytes().
#pragma once

#include <optional>
#include <vector>

#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_bandwidth/kernel=copy/store=nt/threads=2". `effective_cache`: of measure_effective_cache().
[[nodiscard]] std::vector<model::CaseReport> probe_bandwidth(const ProbeContext& context,
                                                             std::optional<std::uint64_t> effective_cache);

// Fills in ceiling_share: against the best median of the same kind of kernel and the same other parameters.
void set_ceiling_shares(std::vector<model::CaseReport>& cases);

}  // namespace memsweep::transfer
