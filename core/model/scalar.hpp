// A value an axis, a variable or a parameter can take.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace memsweep::model {

using Scalar = std::variant<bool, std::int64_t, double, std::string>;

// As it appears in case ids and tables: true, 4096, 0.5, refcount. Never locale-dependent.
[[nodiscard]] std::string to_text(const Scalar& value);

struct Param {
    std::string name;
    Scalar value;
    friend bool operator==(const Param&, const Param&) = default;
};

struct Axis {
    std::string name;
    std::vector<Scalar> values;
};

}  // namespace memsweep::model
