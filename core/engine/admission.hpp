// Which cases of a plan this machine can measure within the options of a run. A case that it cannot is skipped with the
// reason, and never tried.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct Outcome;
struct Repetition;

// What becomes of a round, in which every case had its turn.
enum class RoundEnd : std::uint8_t { goes_on, repeated, last };

struct RunOptions {
    std::uint64_t memory_budget_bytes{};  // a case estimated above it is refused, never tried
    std::uint64_t array_limit_bytes{};    // --quick: skip cases that hold more; 0: none
    bool fail_fast{};                     // stop at the first case that is not ok, or the first failed assertion
    std::function<void(model::MachineRounds&)> note_pace;  // of the machine, in every round; empty: it is not noted
    std::function<void(std::uint64_t bytes)> prefault;     // makes the machine's memory ready; empty: nothing is done
    std::function<void()> before_turn;  // of a case in a round, or of those that go together; empty: nothing is done
    // At the same time, as many outcomes in their order. Empty: each case has its own turn.
    std::function<std::vector<Outcome>(std::span<const Repetition>)> run_together;
    std::string together_over;  // the axis whose values take their turn together
    std::function<RoundEnd(const model::RunReport& report)> round_ended;  // empty: as many rounds as the plan has
};

// What this machine has, for a plan's `requires`.
struct Capabilities {
    std::uint64_t memory_bytes{};  // that is available; 0: it cannot be read
    std::uint64_t numa_nodes{};
    std::uint64_t page_bytes{};
    std::uint64_t huge_page_bytes{};  // 0: none
    bool weighted_interleave{};
    // Where the library of an allocator lies, empty for the C library's, or why it cannot be used.
    std::function<base::Expected<std::string>(const std::string& name)> locate_allocator;
    std::uint64_t swap_bytes{};
    std::string no_reclaim;  // why no control group can be asked for memory; empty: one can
};

// Why the case cannot be measured; empty when it can. `estimate_bytes`: what it will hold, with what its sweep has
// left.
[[nodiscard]] std::string refusal(const model::Case& plan_case, std::uint64_t estimate_bytes,
                                  const model::Requirements& needs, const Capabilities& has, const RunOptions& options);

// Fills in the library of an allocator. Why it cannot be had; empty when it was found, or none is asked for.
[[nodiscard]] std::string settle_allocator(model::AllocatorSpec& allocator, const Capabilities& has);

}  // namespace memsweep::engine
