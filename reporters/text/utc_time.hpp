// Times of day as results write them, 2026-01-31T12:00:00.000Z, for formats that want them in another way.
//
// Units    seconds since 1970-01-01T00:00:00Z.
// Errors   empty for any other text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::reporters {

[[nodiscard]] std::optional<double> epoch_seconds(std::string_view utc);

// To the second and without a zone, 2026-01-31T12:00:00: what ISO 8601 readers take with a zone of their choice behind.
[[nodiscard]] std::optional<std::string> seconds_part(std::string_view utc);

}  // namespace memsweep::reporters
