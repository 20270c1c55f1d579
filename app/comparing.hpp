// What `compare` and `run --baseline` share: the criteria, the comparison of two results, and its exit code.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/exit_code.hpp"
#include "core/base/expected.hpp"
#include "core/measure/comparison.hpp"

namespace memsweep::app {

// A gate file by its path, or by the name of one that ships (configs/gates/NAME.json). Empty after its errors were
// printed; the defaults when `gate` is empty.
[[nodiscard]] std::optional<measure::Criteria> gate_criteria(const std::string& gate);

struct NamedResult {
    std::string name;
    const model::RunReport* report;
};

// Errors   invalid_input: the two are not alike, with what differs (unless `force`), or no case is in both.
[[nodiscard]] base::Expected<measure::Comparison> compare_named(const NamedResult& base, const NamedResult& candidate,
                                                                const measure::Criteria& criteria, bool force);

// With the gate off a regression is no finding; too few repetitions for a verdict stay what they are.
[[nodiscard]] ExitCode exit_code_of(const measure::Comparison& comparison, bool gate);

}  // namespace memsweep::app
