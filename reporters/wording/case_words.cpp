#include "reporters/wording/case_words.hpp"

#include <fmt/format.h>

#include "core/model/plan.hpp"

namespace memsweep::reporters {

std::string no_price_text(const measure::PlacementContrast& contrast)
{
    switch (contrast.without) {
    case measure::NoPrice::none:
        return {};
    case measure::NoPrice::not_measured: {
        const model::CaseReport& one = *contrast.unmeasured;
        return fmt::format("{} is {}{}", measure::value_on(one, model::placement_axis).value_or(""),
                           model::name_of(one.status), one.reason.empty() ? "" : ": " + one.reason);
    }
    case measure::NoPrice::faults_alike:
        return "the faults do not differ";
    case measure::NoPrice::more_faults_alone:
        return "more faults, but no more time";
    case measure::NoPrice::fewer_faults_alone:
        return "fewer faults, but no less time";
    }
    return {};
}

std::string no_value_text(const measure::PlaceMatrix::Cell& cell)
{
    if (!cell.has_case) {
        return "no case for this pair";
    }
    return cell.reason.empty() ? "no value was measured" : cell.reason;
}

}  // namespace memsweep::reporters
