// Decides which cases of a plan can be measured on this machine with the options of a run. All other cases are skipped
// without a try, and the report says why.
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
    std::uint64_t memory_budget_bytes{};  // a case with a higher estimate is not run; 0: no limit
    std::uint64_t array_limit_bytes{};    // --quick: a case that holds more is not run; 0: no limit
    // Each of the following functions may be empty; an empty function is not called.
    std::function<void(model::MachineRounds&)> note_pace;  // measures the machine's speed, adds it to the rounds
    std::function<void(std::uint64_t bytes)> prefault;     // touches this much free memory, so that a VM really has it
    std::function<bool(const model::CaseReport& ended)> ends_run;  // says whether the run ends after this case
};

// The facts about this machine by which a plan's `requires` is checked.
struct Capabilities {
    std::uint64_t memory_bytes{};  // available memory; 0: not known
    std::uint64_t numa_nodes{};
    std::uint64_t page_bytes{};
    std::uint64_t huge_page_bytes{};  // 0: no huge pages
    bool weighted_interleave{};
    // Returns the path of an allocator's library (empty for the C library's malloc), or why it cannot be used.
    std::function<base::Expected<std::string>(const std::string& name)> locate_allocator;
    std::uint64_t swap_bytes{};
    std::string no_reclaim;  // why a control group cannot reclaim memory (push it out to swap); empty: it can
};

// Returns why the case cannot be measured; empty: it can be measured. `estimate_bytes`: the memory that the case will
// hold, plus what earlier cases of its sweep (cases that share a worker process) have left allocated.
[[nodiscard]] std::string refusal(const model::Case& plan_case, std::uint64_t estimate_bytes,
                                  const model::Requirements& needs, const Capabilities& has, const RunOptions& options);

// Fills in the path of an allocator's library. Returns why the library cannot be used; empty: it was found, or
// `allocator` names no allocator.
[[nodiscard]] std::string settle_allocator(model::AllocatorSpec& allocator, const Capabilities& has);

}  // namespace memsweep::engine
