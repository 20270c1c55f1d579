// What capacity a trace needs per placement policy: as text for a terminal, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/trace/fit.hpp"
#include "reporters/table.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

struct FitReport {
    std::uint64_t live_peak{};
    trace::FitOptions options;
    std::vector<trace::PolicyFit> policies;
};

[[nodiscard]] Table capacity_table(const FitReport& report);
[[nodiscard]] std::string to_terminal(const FitReport& report, const TerminalStyle& style);
[[nodiscard]] std::string to_json(const FitReport& report);

}  // namespace memsweep::reporters
