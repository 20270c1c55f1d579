// Checks text of unknown origin, and quotes it in messages.
//
// The JSON parser does not check enough: nlohmann takes a NUL byte for the end of the text, and ignores comments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memsweep::scenarios {

struct BadByte {
    std::size_t offset{};
    std::string_view what;
};

// Returns the first byte that is not well-formed UTF-8, or that is a control character other than tab and line ends.
// Overlong forms, surrogates and anything above U+10FFFF are not well-formed. nullopt: there is no such byte.
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

// Whether the text matches ^[a-z][a-z0-9_]*$ and has at most max_name_bytes: the form of names of scenarios, variables,
// axes, arrays and points.
[[nodiscard]] bool is_name(std::string_view text);

[[nodiscard]] std::string in_quotes(std::string_view text);

// Returns NAME=VALUE as messages show a flag: without quotes, but printable and short.
[[nodiscard]] std::string printable_assignment(std::string_view name, std::string_view value);

// Returns the name of each item, as `projection` gives it.
template <typename Range, typename Projection>
[[nodiscard]] std::vector<std::string_view> names_of(const Range& range, const Projection& projection)
{
    std::vector<std::string_view> names;
    std::ranges::transform(range, std::back_inserter(names), projection);
    return names;
}

}  // namespace memsweep::scenarios
