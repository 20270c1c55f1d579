// One value of a scenario, read strictly by its option: no sign dropped, no fraction cut, no text taken for a number.
//
// Errors   into Diagnostics at the value: what the key must be, what it is, and the placeholder it came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/fields.hpp"

namespace memsweep::scenarios {

// Bytes, nanoseconds or a count, within the option's bounds.
[[nodiscard]] std::optional<std::uint64_t> read_whole(const Node& node, const OptionInfo& option,
                                                      const Reading& reading);
[[nodiscard]] std::optional<double> read_number(const Node& node, const OptionInfo& option, const Reading& reading);
[[nodiscard]] std::optional<bool> read_boolean(const Node& node, const OptionInfo& option, const Reading& reading);
[[nodiscard]] std::optional<std::string> read_text(const Node& node, const OptionInfo& option, const Reading& reading);
[[nodiscard]] std::optional<std::string> read_choice_name(const Node& node, const OptionInfo& option,
                                                          const Reading& reading);

// A scalar that fits model::Scalar, for axes and variables; `what` names it in messages.
[[nodiscard]] std::optional<model::Scalar> read_scalar(const Node& node, std::string_view what, const Reading& reading);

// The value of model::Scalar as a node that stands at `place`.
[[nodiscard]] Node node_of(const model::Scalar& value, const Place& place);

// An integer that is not negative; empty for anything else.
[[nodiscard]] std::optional<std::uint64_t> whole_number(const Node& node);

// "\"count\" must be an integer from 1 to 5, not 7 (from \"${axis.n}\")"; `read` is `node` with placeholders replaced.
[[nodiscard]] std::string must_be(const OptionInfo& option, const Node& node, const Node& read);

}  // namespace memsweep::scenarios
