#include "reporters/document/sweep_axis.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/base/quantity.hpp"

namespace memsweep::reporters {
namespace {

struct Place {
    double value{};
    bool is_size{};  // written with a unit
};

std::optional<Place> place_of(const model::Scalar& value)
{
    if (const auto* count = std::get_if<std::int64_t>(&value)) {
        return Place{static_cast<double>(*count), false};
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return Place{*number, false};
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (const auto size = base::parse_size(*text)) {
            return Place{static_cast<double>(*size), true};
        }
    }
    return std::nullopt;
}

bool speaks_of_size(std::string_view name)
{
    return name.find("size") != std::string_view::npos || name.find("bytes") != std::string_view::npos;
}

struct Candidate {
    std::set<double> values;
    bool is_size{};
};

bool is_swept(const Candidate& candidate)
{
    return candidate.values.size() >= 3 && *candidate.values.begin() > 0 &&
           *candidate.values.rbegin() >= 4 * *candidate.values.begin();
}

}  // namespace

std::optional<SweepAxis> sweep_axis(const Cases& cases)
{
    std::map<std::string, Candidate> candidates;
    for (const model::CaseReport* report : cases) {
        for (const model::Param& param : report->params) {
            if (const auto place = place_of(param.value)) {
                candidates[param.name].values.insert(place->value);
                candidates[param.name].is_size = candidates[param.name].is_size || place->is_size;
            }
        }
    }
    std::optional<SweepAxis> found;
    bool found_size = false;
    for (const auto& [name, candidate] : candidates) {
        const bool is_size = candidate.is_size || speaks_of_size(name);
        if (is_swept(candidate) && (!found || (is_size && !found_size))) {
            found = SweepAxis{name, is_size ? model::Unit::bytes : model::Unit::one};
            found_size = is_size;
        }
    }
    return found;
}

std::optional<double> place_on(const SweepAxis& axis, const model::CaseReport& report)
{
    const auto param = std::ranges::find(report.params, axis.name, &model::Param::name);
    const auto place = param == report.params.end() ? std::nullopt : place_of(param->value);
    return place && place->value > 0 ? std::optional{place->value} : std::nullopt;
}

}  // namespace memsweep::reporters
