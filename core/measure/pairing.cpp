#include "core/measure/pairing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace memsweep::measure {
namespace {

using model::CaseReport;
using Key = std::pair<std::string, std::vector<std::string>>;  // the scenario and the parameters that must agree

struct Keyed {
    Key key;
    const CaseReport* report;
};

using ById = std::map<std::pair<std::string_view, std::string_view>, const CaseReport*>;  // scenario and id

ById by_id(std::span<const CaseReport> cases)
{
    ById found;
    for (const CaseReport& one : cases) {
        found.emplace(ById::key_type{one.scenario, one.id}, &one);
    }
    return found;
}

std::vector<Keyed> with_value(std::span<const CaseReport> cases, const model::RatioOf& wanted,
                              std::span<const std::string_view> axes)
{
    std::vector<Keyed> found;
    for (const CaseReport& one : cases) {
        if (has_value(one, wanted)) {
            found.push_back({Key{one.scenario, params_without(one, axes)}, &one});
        }
    }
    return found;
}

}  // namespace

std::vector<CasePair> pair_by_id(std::span<const CaseReport> base, std::span<const CaseReport> candidate)
{
    ById rest = by_id(candidate);
    std::vector<CasePair> pairs;
    for (const CaseReport& one : base) {
        const auto found = rest.find({one.scenario, one.id});
        pairs.push_back({&one, found == rest.end() ? nullptr : found->second});
        if (found != rest.end()) {
            rest.erase(found);
        }
    }
    for (const CaseReport& one : candidate) {
        if (const auto found = rest.find({one.scenario, one.id}); found != rest.end() && found->second == &one) {
            pairs.push_back({nullptr, &one});
        }
    }
    return pairs;
}

std::vector<CasePair> pair_by_value(std::span<const CaseReport> cases, const model::RatioOf& base,
                                    const model::RatioOf& candidate)
{
    const std::array<std::string_view, 2> axes{base.axis, candidate.axis};
    const std::vector<Keyed> bases = with_value(cases, base, axes);
    std::vector<CasePair> pairs;
    for (const Keyed& to : with_value(cases, candidate, axes)) {
        for (const Keyed& from : bases) {
            if (from.report != to.report && from.key == to.key) {
                pairs.push_back({from.report, to.report});
            }
        }
    }
    return pairs;
}

std::vector<std::string> params_without(const CaseReport& report, std::span<const std::string_view> axes)
{
    std::vector<std::string> texts;
    for (const model::Param& param : report.params) {
        if (std::ranges::find(axes, param.name) == axes.end()) {
            texts.push_back(fmt::format("{}={}", param.name, model::to_text(param.value)));
        }
    }
    std::ranges::sort(texts);
    return texts;
}

bool has_value(const CaseReport& report, const model::RatioOf& wanted)
{
    return model::matches(report.params, {model::Param{wanted.axis, wanted.value}});
}

}  // namespace memsweep::measure
