// Text of unknown origin inside a message: quoted, escaped and cut to a readable length.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memsweep::scenarios {

[[nodiscard]] std::string in_quotes(std::string_view text);

// NAME=VALUE for a flag's place: unquoted, but printable and short.
[[nodiscard]] std::string printable_assignment(std::string_view name, std::string_view value);

// base::suggestion over any list of names: "; did you mean ...?", else the known ones when there are few.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace memsweep::scenarios
