#include "core/model/scalar.hpp"

#include <type_traits>

#include <fmt/format.h>

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

}  // namespace memsweep::model
