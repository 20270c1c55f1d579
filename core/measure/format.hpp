// Values and changes as sentences show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/machine.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// "762.9 MiB", "18.0 ms", "13.4 GB/s", "1,953", "12.5 op/s".
[[nodiscard]] std::string format_value(model::Unit unit, double value);

// The text of a change, with a plus if the change is positive; a text that shows zero has no sign.
[[nodiscard]] std::string with_sign(double change, std::string text);

// "+64", "-1.0 ms": a difference.
[[nodiscard]] std::string format_difference(model::Unit unit, double difference);

// "5 %", "0.5 %", "1,250 %": a fraction in percent, without digits that say nothing.
[[nodiscard]] std::string format_percent(double fraction);

// "81 %": a share in whole percent.
[[nodiscard]] std::string whole_percent(double share);

// "184,544", "153", "7.2", "1.04", "0.71": finer where factors lie near 1.
[[nodiscard]] std::string format_factor(double factor);

// "1 host", "7 hosts", "1,000 hosts".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// "0.2.0 (01234567abcd)": a version with the first digits of its commit.
[[nodiscard]] std::string version_text(const model::ToolInfo& tool);

// "AMD EPYC 7763, 64 cores".
[[nodiscard]] std::string processor_text(const model::Machine& machine);

// "after_drop" in a sentence: "after drop".
[[nodiscard]] std::string spoken(std::string name);

}  // namespace memsweep::measure
