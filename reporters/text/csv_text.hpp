// Fields of CSV by RFC 4180; csv_writer.hpp says what numbers look like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::reporters {

[[nodiscard]] std::string csv_field(std::string_view text);         // in quotes where it has to be
[[nodiscard]] std::string csv_number(std::optional<double> value);  // empty when absent

}  // namespace memsweep::reporters
