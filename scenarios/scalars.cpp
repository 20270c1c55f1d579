// Values whose type the user chooses: axis values and variables.
#include <fmt/format.h>

#include "scenarios/values.hpp"

namespace memsweep::scenarios {
namespace {

struct ToScalar {
    using Result = std::optional<model::Scalar>;
    Result operator()(bool value) const { return value; }
    Result operator()(std::int64_t value) const { return value; }
    Result operator()(double value) const { return value; }
    Result operator()(const std::string& value) const { return value; }
    template <typename Other>
    Result operator()(const Other& /*value*/) const
    {
        return std::nullopt;  // null, lists, objects, and integers from 2^63 on
    }
};

}  // namespace

std::optional<model::Scalar> read_scalar(const Node& node, std::string_view what, const Reading& reading)
{
    Node storage;
    const Node* read = resolve(node, storage, reading.scope, reading.diagnostics);
    if (read == nullptr) {
        return std::nullopt;
    }
    auto scalar = std::visit(ToScalar{}, read->value);
    if (!scalar) {
        reading.diagnostics.add(node.place,
                                fmt::format("{} must be a string, a number of at most 63 bits or a boolean, not {}",
                                            what, describe(*read)));
    }
    return scalar;
}

Node node_of(const model::Scalar& value, const Place& place)
{
    return std::visit([&](const auto& scalar) { return Node{place, scalar}; }, value);
}

}  // namespace memsweep::scenarios
