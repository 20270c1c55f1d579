// A table in GitHub's Markdown.
#pragma once

#include <string>

#include "reporters/table.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string markdown_table(const Table& table);
[[nodiscard]] std::string markdown_sign(Tone tone);  // a cross, a tick or a question mark

}  // namespace memsweep::reporters
