#include "core/model/scalar.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::model {

std::string to_text(const Scalar& value)
{
    return std::visit(
        [](const auto& v) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, bool>) {
                return v ? "true" : "false";
            } else {
                return fmt::format("{}", v);
            }
        },
        value);
}

const Scalar* find_value(const std::vector<Param>& params, std::string_view name)
{
    const auto found = std::ranges::find(params, name, &Param::name);
    return found == params.end() ? nullptr : &found->value;
}

std::optional<std::vector<std::vector<Param>>>
expand(const std::vector<Axis>& axes, const std::vector<std::vector<Param>>& exclusions, std::size_t limit)
{
    std::uint64_t total = 1;
    for (const Axis& axis : axes) {
        total = base::saturating_mul(total, axis.values.size());
    }
    if (total > limit) {
        return std::nullopt;
    }
    std::vector<std::vector<Param>> combinations;
    for (std::uint64_t index = 0; index < total; ++index) {
        std::vector<Param> params(axes.size());
        std::uint64_t rest = index;
        for (std::size_t i = axes.size(); i-- > 0;) {
            params[i] = Param{axes[i].name, axes[i].values[rest % axes[i].values.size()]};
            rest /= axes[i].values.size();
        }
        std::ranges::sort(params, {}, &Param::name);
        const bool excluded = std::ranges::any_of(
            exclusions, [&](const std::vector<Param>& pattern) { return matches(params, pattern); });
        if (!excluded) {
            combinations.push_back(std::move(params));
        }
    }
    return combinations;
}

std::string case_id(const std::string& scenario, const std::vector<Param>& sorted_params)
{
    std::string id = scenario;
    for (const Param& param : sorted_params) {
        id += fmt::format("/{}={}", param.name, to_text(param.value));
    }
    return id;
}

bool matches(const std::vector<Param>& params, const std::vector<Param>& pattern)
{
    return std::ranges::all_of(pattern, [&](const Param& wanted) {
        const Scalar* value = find_value(params, wanted.name);
        return value != nullptr && to_text(*value) == to_text(wanted.value);
    });
}

}  // namespace memsweep::model
