#include "core/measure/mode_groups.hpp"

#include <algorithm>
#include <array>

#include "core/measure/pairing.hpp"

namespace memsweep::measure {
namespace {

// nullptr: none of the group has that value.
const model::CaseReport* with_value(const ModeGroup& group, std::string_view axis, std::string_view value)
{
    const auto found =
        std::ranges::find_if(group.cases, [&](const auto* one) { return value_on(*one, axis) == value; });
    return found == group.cases.end() ? nullptr : *found;
}

std::vector<ModeGroup> groups_of(std::span<const model::CaseReport> cases, std::string_view axis)
{
    std::vector<ModeGroup> groups;
    for (const model::CaseReport& one : cases) {
        if (one.status != model::Status::ok || !value_on(one, axis)) {
            continue;
        }
        std::vector<std::string> rest = params_without(one, std::array{axis});
        rest.insert(rest.begin(), one.scenario);
        auto group = std::ranges::find(groups, rest, &ModeGroup::rest);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), ModeGroup{std::move(rest), {}, nullptr});
        }
        group->cases.push_back(&one);
    }
    return groups;
}

}  // namespace

std::vector<ModeGroup> mode_groups(std::span<const model::CaseReport> cases)
{
    std::vector<ModeGroup> groups = groups_of(cases, mode_axis);
    for (ModeGroup& group : groups) {
        const model::CaseReport* refcount = with_value(group, mode_axis, "refcount");
        group.base = refcount != nullptr ? refcount : group.cases.front();
    }
    return groups;
}

std::vector<ModeGroup> groups_against(std::span<const model::CaseReport> cases, std::string_view axis,
                                      std::string_view base)
{
    std::vector<ModeGroup> groups = groups_of(cases, axis);
    for (ModeGroup& group : groups) {
        group.base = with_value(group, axis, base);
    }
    std::erase_if(groups, [](const ModeGroup& group) { return group.base == nullptr; });
    return groups;
}

std::optional<std::string> value_on(const model::CaseReport& report, std::string_view axis)
{
    const auto found = std::ranges::find(report.params, axis, &model::Param::name);
    return found == report.params.end() ? std::nullopt : std::optional{model::to_text(found->value)};
}

std::optional<std::string> mode_of(const model::CaseReport& report)
{
    return value_on(report, mode_axis);
}

}  // namespace memsweep::measure
