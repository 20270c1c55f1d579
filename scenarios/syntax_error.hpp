// nlohmann's parse errors, said shorter and at the token that is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "scenarios/locator.hpp"

namespace memsweep::scenarios {

struct SyntaxError {
    Token token;
    std::string message;
};

// `what` is the library's message, `position` its count of bytes read, `locator` stands behind the last good token.
[[nodiscard]] SyntaxError explain_syntax_error(std::string_view text, Locator locator, std::size_t position,
                                               std::string_view what);

}  // namespace memsweep::scenarios
