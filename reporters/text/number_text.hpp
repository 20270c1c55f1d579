// Numbers and times of day as text for other programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::reporters {

// Returns the shortest decimal text that reads back to the same double: "195313", "0.1", "1e-09". Zero has no sign.
// Empty for a value that is not finite, because JSON and CSV have no such number. The locale has no effect.
[[nodiscard]] std::string number_text(double value);

// Reads a time as results write it: 2026-01-31T12:00:00.000Z. Returns the seconds since 1970-01-01T00:00:00Z; empty for
// other texts.
[[nodiscard]] std::optional<double> epoch_seconds(std::string_view utc);

// Cuts such a time to whole seconds without a time zone: 2026-01-31T12:00:00. Empty for other texts.
[[nodiscard]] std::optional<std::string> seconds_part(std::string_view utc);

}  // namespace memsweep::reporters
