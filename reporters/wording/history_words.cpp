#include "reporters/wording/history_words.hpp"

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/wording/shift_words.hpp"

namespace memsweep::reporters {

std::string change_text(const measure::Trend& trend, const measure::Change& change)
{
    return shift_text(trend.unit, change.shift, change.before, change.after);
}

std::string run_text(const measure::RunPlace& place)
{
    return fmt::format("run {} of {}, {}", place.run + 1, place.runs, place.started);
}

std::string too_few_text(const measure::Trend& trend)
{
    return trend.too_few_runs ? fmt::format("{} measured it; {} are needed to show a change",
                                            measure::counted(*trend.too_few_runs, "run"), measure::min_runs)
                              : std::string{};
}

std::string left_out_text(const measure::LeftOut& one)
{
    return one.again_of.empty()
               ? fmt::format("{}: the only run of {} with this scenario on this machine", one.name, one.scenario)
               : fmt::format("{}: the run of {} again", one.name, one.again_of);
}

}  // namespace memsweep::reporters
