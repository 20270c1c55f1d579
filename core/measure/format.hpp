// Formats values and changes as text for the sentences of reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/machine.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// Formats a value with its unit: "762.9 MiB", "18.0 ms", "13.4 GB/s", "1,953", "12.5 op/s".
[[nodiscard]] std::string format_value(model::Unit unit, double value);

// Puts a plus before `text` if the change is positive. A text that shows zero gets no sign.
[[nodiscard]] std::string with_sign(double change, std::string text);

// Formats a difference, with its sign: "+64", "-1.0 ms".
[[nodiscard]] std::string format_difference(model::Unit unit, double difference);

// Formats a fraction in percent, without needless digits: "5 %", "0.5 %", "1,250 %".
[[nodiscard]] std::string format_percent(double fraction);

// Formats a share in whole percent: "81 %".
[[nodiscard]] std::string whole_percent(double share);

// Formats a factor, with more decimals the nearer it is to 1: "184,544", "153", "7.2", "1.04", "0.71".
[[nodiscard]] std::string format_factor(double factor);

// Formats a count with its noun: "1 host", "7 hosts", "1,000 hosts".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// Returns the version with the first digits of its commit: "0.2.0 (01234567abcd)".
[[nodiscard]] std::string version_text(const model::ToolInfo& tool);

// Names the processor: "AMD EPYC 7763, 64 cores".
[[nodiscard]] std::string processor_text(const model::Machine& machine);

// Replaces underscores by blanks: "after_drop" becomes "after drop".
[[nodiscard]] std::string spoken(std::string name);

}  // namespace memsweep::measure
