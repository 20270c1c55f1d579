// The formats a comparison can be written in: what `compare --format` accepts.
//
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "reporters/comparison_report.hpp"

namespace memsweep::reporters {

struct ComparisonFormat {
    std::string_view name;
    std::string_view description;
    std::string (*write)(const ComparisonReport&);
};

[[nodiscard]] std::span<const ComparisonFormat> comparison_formats();
[[nodiscard]] base::Expected<ComparisonFormat> find_comparison_format(std::string_view name);

}  // namespace memsweep::reporters
