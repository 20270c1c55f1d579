// Values of axes, variables and parameters, and the combinations of several axes' values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace memsweep::model {

using Scalar = std::variant<bool, std::int64_t, double, std::string>;

// The value as in case ids and tables: true, 4096, 0.5, refcount. Independent of the locale.
[[nodiscard]] std::string to_text(const Scalar& value);

struct Param {
    std::string name;
    Scalar value;
    friend bool operator==(const Param&, const Param&) = default;
};

// nullptr if no parameter has this name.
[[nodiscard]] const Scalar* find_value(const std::vector<Param>& params, std::string_view name);

struct Axis {
    std::string name;
    std::vector<Scalar> values;
};

// Returns all combinations of the axes' values, or nullopt if there are more than `limit` combinations, including
// excluded ones. The last axis varies fastest. Combinations that match all parameters of an exclusion are left out.
[[nodiscard]] std::optional<std::vector<std::vector<Param>>>
expand(const std::vector<Axis>& axes, const std::vector<std::vector<Param>>& exclusions, std::size_t limit);

[[nodiscard]] std::string case_id(const std::string& scenario, const std::vector<Param>& sorted_params);

// True if `params` contains every parameter of `pattern` with the same value, compared as text.
[[nodiscard]] bool matches(const std::vector<Param>& params, const std::vector<Param>& pattern);

}  // namespace memsweep::model
