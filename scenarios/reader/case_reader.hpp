// From axes to cases: every combination with its memory, release and steps substituted and typed.
//
// Errors   into Diagnostics. In a scenario that has errors only the first max_cases_with_errors cases are looked at.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/plan.hpp"
#include "scenarios/reader/axes.hpp"

namespace memsweep::scenarios {

// The parts of the file that differ between cases; null where the file has none.
struct CaseParts {
    const Node* axes{};
    const Node* exclude{};
    const Node* memory{};
    const Node* release{};
    const Node* safety{};
    const Node* allocators{};
    const Node* steps{};
    std::uint32_t ranks{};  // that the scenario's transfers go between; 0: it is for one process
};

// Parameters of every transfer between ranks, besides the axes.
inline constexpr std::array<std::string_view, 5> rank_params{"from", "message", "part", "to", "transfer"};

[[nodiscard]] model::MemorySpec read_memory(const Node& node, const Reading& reading);
[[nodiscard]] model::SafetySpec read_safety(const Node& node, const Reading& reading);

// Why memory of this kind cannot be used so under this release; empty when it can.
[[nodiscard]] std::vector<std::string> memory_objections(const model::MemorySpec& memory,
                                                         const model::ReleaseSpec& release);

// `reading` is that of the scenario; each case gets its own scope with its axes' values.
[[nodiscard]] std::vector<model::Case> read_cases(const std::string& scenario, const CaseParts& parts, const Axes& axes,
                                                  const model::SeriesSpec& series, Sources& sources,
                                                  const Reading& reading);

}  // namespace memsweep::scenarios
