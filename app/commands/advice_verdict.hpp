// The verdict of `memsweep advise` on what was tried: which setting to take, whether that is proven, and why not.
//
// Units    bytes.
// Errors   none.
// Threads  any.
#pragma once

#include <string>

#include "app/commands/advising.hpp"
#include "core/schedule/advice_search.hpp"
#include "reporters/document/advice.hpp"

namespace memsweep::app {

// Why a setting was not tried: the budget left no time for it.
inline constexpr const char* advice_not_reached_in_time = "the budget was spent";

struct JudgedAdvice {
    const AdviceQuestion& question;
    const schedule::AdviceOutcome& outcome;
    schedule::AdviceWay way{};
    double memory{};          // of the unchanged program, in the first look at it
    bool prints_otherwise{};  // from run to run
};

// `report` has what was tried, and the best of it if there is one.
void judge_advice(const JudgedAdvice& facts, reporters::AdviceReport& report);

void change_nothing(std::string why, reporters::AdviceReport& report);

// Nothing was tried, so that nothing can be said.
void budget_ended(std::string why, reporters::AdviceReport& report);

}  // namespace memsweep::app
