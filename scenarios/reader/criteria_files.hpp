// Reads files that say when a result is good enough. A team can share such criteria.
//
// A gate says which metrics a comparison judges, and by how much they may change (`format: memsweep-gate`, version 1;
// docs/measurement.md). Limits turn a probe into a health check: `memsweep probe --limits FILE` (`format:
// memsweep-limits`, version 1; docs/probe.md).
//
// Errors   as the loader's: all at once, with `where` = "file:line:col". An unreadable file is one error with code io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/expected.hpp"
#include "core/measure/comparison.hpp"
#include "core/model/assertion.hpp"

namespace memsweep::scenarios {

using LoadedGate = tl::expected<measure::Criteria, std::vector<base::Error>>;

struct ProbeLimit {
    std::string scenario;  // "probe_bandwidth": the limit is for its cases only; empty: for all cases
    model::Assertion assertion;
    bool optional{};  // true: if none of its cases was measured, the limit counts as met
};

using LoadedLimits = tl::expected<std::vector<ProbeLimit>, std::vector<base::Error>>;

[[nodiscard]] LoadedGate load_gate(const std::string& path);
[[nodiscard]] LoadedLimits load_limits(const std::string& path);

// As load_gate() and load_limits(), for text that was read already. `name` stands for the path in messages.
[[nodiscard]] LoadedGate load_gate_text(const std::string& name, std::string_view text);
[[nodiscard]] LoadedLimits load_limits_text(const std::string& name, std::string_view text);

// Makes the text of a limits file that load_limits() can read: the scenario, the `where` and the expression of each
// limit.
//
// Errors   invalid_input: more limits than a file holds.
[[nodiscard]] base::Expected<std::string> limits_text(const std::vector<ProbeLimit>& limits,
                                                      const std::string& description);

}  // namespace memsweep::scenarios
