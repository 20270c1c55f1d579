// The verdict of `memsweep advise`: which setting to use, whether its gain is proven, and if not, why.
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

// The reason that the report gives for a setting that was not tried for lack of time.
inline constexpr const char* advice_not_reached_in_time = "the budget was spent";

struct JudgedAdvice {
    const AdviceQuestion& question;
    const schedule::AdviceOutcome& outcome;
    schedule::AdviceWay way{};
    double memory{};          // of the unchanged program, in its first run
    bool prints_otherwise{};  // the program's output varies from run to run
};

// Fills in the verdict. `report` must already have the settings that were tried, and the best of them if one of them is
// good.
void judge_advice(const JudgedAdvice& facts, reporters::AdviceReport& report);

void change_nothing(std::string why, reporters::AdviceReport& report);

// Fills in the verdict for a search that ended before any setting was tried, for example because the budget ended.
void budget_ended(std::string why, reporters::AdviceReport& report);

}  // namespace memsweep::app
