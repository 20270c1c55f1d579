// Measures, shortens and wraps text in terminal columns.
//
// Sources  wide and zero-width ranges: Unicode 15, East Asian Width and general category, in coarse blocks.
// Errors   none; expects text that inert_text() made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memsweep::reporters {

[[nodiscard]] int display_width(std::string_view text);

// How elided() shortens a text to at most `width` columns. It replaces the middle by one character, because names
// differ at their ends. between_parts keeps whole parts of a case's id ("churn/…/size=4096") or of a name
// ("working_…_delta"), if at least one part fits. anywhere may also cut within a part, and so keeps more letters.
enum class Cut { between_parts, anywhere };
[[nodiscard]] std::string elided(const std::string& text, int width, Cut cut = Cut::between_parts);

// Shortens each name to at most `width` columns. Different names stay different: names that would become the same keep
// the part in which they differ. Names that are still the same get a number.
[[nodiscard]] std::vector<std::string> elided_apart(const std::vector<std::string>& names, int width);

// Returns lines of at most `width` columns, broken at blanks, but not between a number and its unit. A word longer than
// a line is split, after a slash if the word has one. Words may also be broken after each character of `break_after`:
// with "_", after_collect gives "after_", "collect".
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int width, std::string_view break_after = {});

// Returns the width of the widest part that wrapped() keeps whole. (It breaks a part only if the part is wider than a
// line.)
[[nodiscard]] int longest_word(std::string_view text, std::string_view break_after = {});

[[nodiscard]] std::string padded_left(const std::string& text, int width);   // blanks, then the text
[[nodiscard]] std::string padded_right(const std::string& text, int width);  // the text, then blanks

}  // namespace memsweep::reporters
