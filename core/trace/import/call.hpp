// A call of an allocation function as tracers print it: "malloc(16) = 0x4A46040".
#pragma once

#include <optional>
#include <string_view>

#include "core/trace/event.hpp"

namespace memsweep::trace {

enum class CallParse { none, event, bad };

// Fills in kind, addresses, sizes. `none`: no call of an allocation function; `bad`: one whose text does not hold.
[[nodiscard]] CallParse parse_call(std::string_view name, std::string_view arguments, std::string_view result,
                                   Event& event);

// The last name( of an allocation function in a text, its place, or npos. Tracers print one call inside another.
struct CallPlace {
    std::size_t begin{std::string_view::npos};
    std::string_view name;
};
[[nodiscard]] CallPlace find_call(std::string_view text);

}  // namespace memsweep::trace
