// Memory that a case still holds after the program let go of it, as a part of a sentence.
//
// Sources  floating_bytes at the sampled points (exact); where no point knows it, working_set_delta above the base's at
//          the same point, from 1 MiB on; where there are no points, floating_bytes_peak.
#pragma once

#include <string>
#include <string_view>

#include "core/model/report.hpp"

namespace memsweep::measure {

// "holds 762.9 MiB after drop and still 762.9 MiB after collect; released only after drain (18.0 ms)"; empty when
// nothing is held.
[[nodiscard]] std::string held_part(const model::CaseReport& base, std::string_view base_mode,
                                    const model::CaseReport& other);

}  // namespace memsweep::measure
