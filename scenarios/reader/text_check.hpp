// What no JSON parser may be trusted with: nlohmann takes a NUL byte for the end of the text and does not look at
// the bytes of comments.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace memsweep::scenarios {

struct BadByte {
    std::size_t offset{};
    std::string_view what;
};

// The first byte that is not UTF-8, or a control character other than tab and line ends. Rejects overlong forms,
// surrogates and anything above U+10FFFF.
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

// ^[a-z][a-z0-9_]*$ and at most max_name_bytes long: what names of scenarios, variables, axes, arrays and points are.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace memsweep::scenarios
