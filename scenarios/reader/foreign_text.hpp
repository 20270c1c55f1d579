// Text of unknown origin: checked before it is taken, and quoted inside messages.
//
// The JSON parser does not check enough: nlohmann takes a NUL byte for the end of the text and does not look at the
// bytes of comments.
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

// The first byte that is not UTF-8, or a control character other than tab and line ends. Rejects overlong forms,
// surrogates and anything above U+10FFFF.
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

// ^[a-z][a-z0-9_]*$ and at most max_name_bytes long, as the names of scenarios, variables, axes, arrays and points.
[[nodiscard]] bool is_name(std::string_view text);

[[nodiscard]] std::string in_quotes(std::string_view text);

// NAME=VALUE for a flag's place: unquoted, but printable and short.
[[nodiscard]] std::string printable_assignment(std::string_view name, std::string_view value);

// The names that `projection` finds in the items.
template <typename Range, typename Projection>
[[nodiscard]] std::vector<std::string_view> names_of(const Range& range, const Projection& projection)
{
    std::vector<std::string_view> names;
    std::ranges::transform(range, std::back_inserter(names), projection);
    return names;
}

}  // namespace memsweep::scenarios
