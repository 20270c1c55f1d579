// One value of a file, read strictly by its option: no sign dropped, no fraction cut, no text taken for a number.
//
// Errors   into Diagnostics at the value: what the key must be, what it is, and the placeholder it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/scalar.hpp"
#include "scenarios/reader/document.hpp"
#include "scenarios/reader/option.hpp"
#include "scenarios/reader/substitution.hpp"

namespace memsweep::scenarios {

// Where values come from and where complaints go.
struct Reading {
    const Scope& scope;
    Diagnostics& diagnostics;
};

// The value, within the option's bounds and of the alternative that belongs to its kind. Empty when it was reported.
// Not for objects, lists of objects and texts.
[[nodiscard]] std::optional<Value> read_value(const Node& node, const OptionInfo& option, const Reading& reading);

// The number of a device's name, as in gpu0; empty for anything else.
[[nodiscard]] std::optional<std::uint32_t> device_number(std::string_view name);

// What the bounds of the rows have against the values of an object that no file was read for.
[[nodiscard]] std::vector<std::string> out_of_bounds(std::span<const OptionInfo> options, const void* object);

// A scalar that fits model::Scalar, for axes and variables; `what` names it in messages.
[[nodiscard]] std::optional<model::Scalar> read_scalar(const Node& node, std::string_view what, const Reading& reading);

// The value of model::Scalar as a node that stands at `place`.
[[nodiscard]] Node node_of(const model::Scalar& value, const Place& place);

// An integer that is not negative; empty for anything else.
[[nodiscard]] std::optional<std::uint64_t> whole_number(const Node& node);

}  // namespace memsweep::scenarios
