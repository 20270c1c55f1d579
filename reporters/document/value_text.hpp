// Figures as people read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Three digits and a unit: "762.9 MiB", "1.25 ms", "195,313". A value that is not finite is empty.
[[nodiscard]] std::string value_text(double value, model::Unit unit);
// Every digit, with the metric's unit: "800,000,000 B", "0.00125 s", "195,313".
[[nodiscard]] std::string exact_text(double value, model::Unit unit);
[[nodiscard]] std::string percent_text(double fraction);  // "0.4%"

[[nodiscard]] Cell value_cell(std::optional<double> value, model::Unit unit);

[[nodiscard]] std::string plural(std::uint64_t count, std::string_view noun);  // "1 core", "2 cores"

// Of the values that are there and finite; empty when there is none.
[[nodiscard]] std::optional<double> median_of(std::vector<double> values);

// Arguments as a shell would read them back.
[[nodiscard]] std::string command_line(const std::vector<std::string>& arguments);

}  // namespace memsweep::reporters
