// "Did you mean ...?": the known word nearest to a mistyped one.
//
// Sources  optimal string alignment (Levenshtein distance with swapped neighbours as one error); a word is near when
//          at most a third of its letters differ.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace memsweep::base {

// Empty when nothing is near enough.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// "; did you mean \"repetitions\"?", or "; known: a, b, c" when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace memsweep::base
