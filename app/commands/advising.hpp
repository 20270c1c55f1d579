// `memsweep advise`: measures a program without any change, tries allocator settings on it, and says which to use.
//
// Cost     real runs of the program: two of the unchanged program, then the runs that schedule::AdviceSearch asks for.
// Errors   invalid_input: the program does not exist; os: the program fails even without any setting.
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
    std::string resume;  // the file that keeps runs (remembered_runs.hpp); empty: none is kept
};

[[nodiscard]] base::Expected<reporters::AdviceReport>
advise_on(const AdviceQuestion& question, const GlobalOptions& global, const sys::StopSignals& signals);

}  // namespace memsweep::app
