#include "reporters/json/json_members.hpp"

#include <cmath>
#include <type_traits>

namespace memsweep::reporters {
namespace {

Json json_scalar(const model::Scalar& value)
{
    return std::visit(
        [](const auto& v) -> Json {
            using Value = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<Value, double>) {
                return std::isfinite(v) ? Json(v) : Json(model::to_text(v));
            } else {
                return v;
            }
        },
        value);
}

}  // namespace

Json json_params(const std::vector<model::Param>& params)
{
    Json json = Json::object();
    for (const model::Param& param : params) {
        json[repaired_utf8(param.name)] = json_scalar(param.value);
    }
    return json;
}

}  // namespace memsweep::reporters
