#include "core/measure/mode_groups.hpp"

#include <algorithm>
#include <array>

#include "core/measure/pairing.hpp"

namespace memsweep::measure {
namespace {

const model::CaseReport* base_of(const ModeGroup& group)
{
    const auto found = std::ranges::find_if(group.cases, [](const auto* one) { return mode_of(*one) == "refcount"; });
    return found == group.cases.end() ? group.cases.front() : *found;
}

}  // namespace

std::vector<ModeGroup> mode_groups(std::span<const model::CaseReport> cases)
{
    std::vector<ModeGroup> groups;
    for (const model::CaseReport& one : cases) {
        if (one.status != model::Status::ok || !mode_of(one)) {
            continue;
        }
        std::vector<std::string> rest = params_without(one, std::array{mode_axis});
        rest.insert(rest.begin(), one.scenario);
        auto group = std::ranges::find(groups, rest, &ModeGroup::rest);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), ModeGroup{std::move(rest), {}, nullptr});
        }
        group->cases.push_back(&one);
    }
    for (ModeGroup& group : groups) {
        group.base = base_of(group);
    }
    return groups;
}

std::optional<std::string> mode_of(const model::CaseReport& report)
{
    const auto found = std::ranges::find(report.params, mode_axis, &model::Param::name);
    return found == report.params.end() ? std::nullopt : std::optional{model::to_text(found->value)};
}

}  // namespace memsweep::measure
