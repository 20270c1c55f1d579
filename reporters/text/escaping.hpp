// Text from outside (names, paths, arguments) made safe to put into a document: UTF-8, a page, a field of CSV.
//
// Errors   none: a byte that is not part of well-formed UTF-8 is read as U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::reporters {

struct CodePoint {
    char32_t value{};
    std::size_t length{};  // bytes it took, at least 1
};

// The first code point of text that must not be empty.
[[nodiscard]] CodePoint first_code_point(std::string_view text);
void append_utf8(std::string& out, char32_t code_point);

// The text as well-formed UTF-8; unchanged if it was already.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

// The text as above, on one line and inert. Line breaks and tabs become blanks; other control characters, and those
// that turn the writing direction, become U+FFFD. A terminal or a page can then show it without being steered by it.
[[nodiscard]] std::string inert_text(std::string_view text);

// The same for a text of many lines, so that a terminal may show a format that is made for programs.
[[nodiscard]] std::string inert_lines(std::string_view text);

// The text for element content and for attributes in double quotes alike. It is inert, with & < > " ' written as
// entities, and so is the second # of two, which is how a log's command could begin (without_commands).
[[nodiscard]] std::string escaped(std::string_view text);

// The same for XML 1.0, which has no place for U+FFFE and U+FFFF: they become U+FFFD.
[[nodiscard]] std::string escaped_xml(std::string text);

// A text from a file, not a number, as a field of CSV by RFC 4180. It is quoted if it has to be. It gets an apostrophe
// if a spreadsheet would take it for a formula, because it begins with = + - @ or a tab. It is also without_commands.
[[nodiscard]] std::string csv_text(std::string_view text);

// Puts a backslash into lines that the log of a CI service would take for commands, since runs that hold secrets print
// texts of scenarios and results. Such a line begins with "::error::..." after any white space of Unicode, or has "##",
// letters and "[" anywhere. GitHub Actions ("##[error]"), Azure Pipelines ("##vso[") and TeamCity ("##teamcity[") look
// for these.
[[nodiscard]] std::string without_commands(std::string_view text);

// Whether one line would be such a command by its beginning.
[[nodiscard]] bool begins_command(std::string_view line);

}  // namespace memsweep::reporters
