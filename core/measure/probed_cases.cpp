#include "core/measure/probed_cases.hpp"

#include <variant>

namespace memsweep::measure {

using model::CaseReport;

std::string text_of(const CaseReport& one, std::string_view name)
{
    return value_on(one, name).value_or("");
}

std::int64_t number_of(const CaseReport& one, std::string_view name)
{
    const auto found = std::ranges::find(one.params, name, &model::Param::name);
    const auto* number = found == one.params.end() ? nullptr : std::get_if<std::int64_t>(&found->value);
    return number == nullptr ? 0 : *number;
}

std::vector<ProbedCase> measured(std::span<const CaseReport* const> cases, std::string_view scenario,
                                 std::string_view metric)
{
    return measured(cases, scenario, metric, [](const CaseReport&) { return true; });
}

std::optional<ProbedCase> best(const std::vector<ProbedCase>& found)
{
    const auto most = std::ranges::max_element(found, {}, &ProbedCase::median);
    return most == found.end() ? std::nullopt : std::optional{*most};
}

const ProbedCase* with_number(const std::vector<ProbedCase>& found, std::string_view name, std::int64_t number)
{
    const auto one =
        std::ranges::find(found, number, [&](const ProbedCase& each) { return number_of(*each.report, name); });
    return one == found.end() ? nullptr : &*one;
}

}  // namespace memsweep::measure
