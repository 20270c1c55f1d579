// Decides which cases of a plan this machine can measure within the options of a run. Any other case is skipped with
// the reason, and never tried.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct RunOptions {
    std::uint64_t memory_budget_bytes{};                   // a case estimated above it is refused, never tried
    std::uint64_t array_limit_bytes{};                     // --quick: skip cases that hold more; 0: none
    std::function<void(model::MachineRounds&)> note_pace;  // the machine's, in every round; empty: it is not noted
    std::function<void(std::uint64_t bytes)> prefault;     // makes the machine's memory ready; empty: nothing is done
    std::function<bool(const model::CaseReport& ended)> ends_run;  // whether nothing follows it; empty: never
};

// The facts of this machine that a plan's `requires` is checked against.
struct Capabilities {
    std::uint64_t memory_bytes{};  // available; 0: it cannot be read
    std::uint64_t numa_nodes{};
    std::uint64_t page_bytes{};
    std::uint64_t huge_page_bytes{};  // 0: none
    bool weighted_interleave{};
    // The path of an allocator's library, empty for the C library's, or why it cannot be used.
    std::function<base::Expected<std::string>(const std::string& name)> locate_allocator;
    std::uint64_t swap_bytes{};
    std::string no_reclaim;  // why no control group can be asked for memory; empty: one can
};

// Why the case cannot be measured; empty if it can. `estimate_bytes`: the memory that it will hold, plus the memory
// that its sweep has left.
[[nodiscard]] std::string refusal(const model::Case& plan_case, std::uint64_t estimate_bytes,
                                  const model::Requirements& needs, const Capabilities& has, const RunOptions& options);

// Fills in the library of an allocator. Returns why it cannot be had; empty if it was found, or none is asked for.
[[nodiscard]] std::string settle_allocator(model::AllocatorSpec& allocator, const Capabilities& has);

}  // namespace memsweep::engine
