// What `memsweep advise` does: looks at a program as it is, tries settings of allocators on it, and says which to take.
//
// Cost     real runs of the program: two to look at it, then those of schedule::AdviceSearch.
// Errors   invalid_input: there is no such program; os: it fails without any setting.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/model/end_of_work.hpp"
#include "core/model/plan.hpp"
#include "core/sys/signals.hpp"
#include "reporters/document/advice.hpp"

namespace memsweep::app {

enum class WantedAt : std::uint8_t { peak, end, idle };

struct AdviceQuestion {
    model::Plan plan;  // one case: the program
    WantedAt at{WantedAt::end};
    model::EndOfWork end;
    std::string keep{"cpu_time"};
    double at_most{1.05};
    std::optional<std::chrono::nanoseconds> budget;
    std::optional<std::uint32_t> most_runs;
    std::uint64_t seed{1};
    std::string resume;  // a file of runs (remembered_runs.hpp); empty: none are kept
};

[[nodiscard]] base::Expected<reporters::AdviceReport>
advise_on(const AdviceQuestion& question, const GlobalOptions& global, const sys::StopSignals& signals);

}  // namespace memsweep::app
