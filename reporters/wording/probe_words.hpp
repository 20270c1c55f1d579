// Puts into words what a probe found about a machine and its devices.
#pragma once

#include <string>

#include "core/measure/findings.hpp"

namespace memsweep::reporters {

// Writes the sentence for a finding whose kind begins with probe_ or device_.
[[nodiscard]] std::string probe_text(const measure::Finding& finding);

[[nodiscard]] std::string contradiction_text(const measure::Contradiction& one);

// Writes a short remark beside a case: "slower than at 64MiB", "23 times one chain".
[[nodiscard]] std::string doubt_text(const measure::Contradiction& one);

}  // namespace memsweep::reporters
