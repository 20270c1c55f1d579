// Numbers and times of day as machines read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::reporters {

// The shortest decimal text that reads back to the same double, "195313", "0.1", "1e-09"; zero has no sign.
// Empty for a value that is not finite: there is no such number in JSON or CSV. Never locale-dependent.
[[nodiscard]] std::string number_text(double value);

// Seconds since 1970-01-01T00:00:00Z of a time in the form of results, 2026-01-31T12:00:00.000Z; empty for other texts.
[[nodiscard]] std::optional<double> epoch_seconds(std::string_view utc);

// The same time to the second and without a zone, 2026-01-31T12:00:00: ISO 8601 readers take it with any zone behind.
[[nodiscard]] std::optional<std::string> seconds_part(std::string_view utc);

}  // namespace memsweep::reporters
