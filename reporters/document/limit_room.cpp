#include "reporters/document/limit_room.hpp"

#include <cmath>

#include "core/model/assertion.hpp"

namespace memsweep::reporters {

std::optional<double> room_left(const model::AssertionResult& result)
{
    const auto asked = model::parse_expression(result.expression);
    if (!asked || asked->ratio || !result.actual || asked->limit == 0) {
        return std::nullopt;
    }
    const double above = (*result.actual - asked->limit) / std::abs(asked->limit);
    switch (asked->comparison) {
    case model::Comparison::greater:
    case model::Comparison::greater_equal:
        return above;
    case model::Comparison::less:
    case model::Comparison::less_equal:
        return -above;
    case model::Comparison::equal:
    case model::Comparison::not_equal:
        break;
    }
    return std::nullopt;
}

const model::AssertionResult* nearest_limit(const model::RunReport& report)
{
    const model::AssertionResult* nearest = nullptr;
    for (const model::AssertionResult& one : report.assertions) {
        const auto room =
            one.is_limit && one.outcome == model::AssertionOutcome::passed ? room_left(one) : std::nullopt;
        if (room && (nearest == nullptr || *room < *room_left(*nearest))) {
            nearest = &one;
        }
    }
    return nearest;
}

}  // namespace memsweep::reporters
