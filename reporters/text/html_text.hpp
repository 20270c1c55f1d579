// Text inside a page.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// For element content and for attributes in double quotes alike: inert, and with & < > " ' written as entities.
[[nodiscard]] std::string escaped(std::string_view text);

// The page's own style sheet.
[[nodiscard]] std::string_view style_sheet();

}  // namespace memsweep::reporters
