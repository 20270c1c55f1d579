// JSON values as text: what the result writer and the event lines share.
//
// Errors   none: see number_text.hpp and utf8.hpp for what cannot be written as it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace memsweep::reporters {

using Json = nlohmann::ordered_json;  // keys keep the order they were written in

[[nodiscard]] Json json_text(std::string_view text);
[[nodiscard]] Json json_text_or_null(std::string_view text);  // null for empty text
[[nodiscard]] Json json_number(std::optional<double> value);  // null when absent or not finite

// On one line, without a line break at its end.
[[nodiscard]] std::string compact(const Json& json);

// Indented by one, except what reads better on one line: an array of plain values, however long, an object of plain
// values that is a row of an array, and any other object of plain values that is short.
struct PrettyPlace {
    std::size_t depth{};  // brackets open around it
    bool is_row{};        // of an array
};
[[nodiscard]] std::string pretty(const Json& json, PrettyPlace place = {});

}  // namespace memsweep::reporters
