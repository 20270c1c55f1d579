// How much longer one case takes than another, and where the extra time goes, as parts of sentences.
#pragma once

#include <string>
#include <string_view>

#include "core/measure/time_contrast.hpp"

namespace memsweep::reporters {

// Says how much longer a case takes: "7.2x the time per array of refcount (95 % interval 6.8 to 7.6)", or words that
// say that no difference was shown.
[[nodiscard]] std::string time_part(const measure::TimeContrast& time, std::string_view base_name);

// Says where the extra time goes: "page faults explain 81 % of the extra time (1,953 more faults per array at 800.0 ns
// each), calls into the allocator 12 %, waiting for the collector 3 %; 4 % is unexplained". If the parts add up to more
// than measure::most_explained, the text leaves them out and says that the machine was too busy for a split.
[[nodiscard]] std::string cause_text(const measure::Attribution& attribution);

}  // namespace memsweep::reporters
