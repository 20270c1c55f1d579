// Makes text from outside (names, paths, arguments) safe to put into a document: into a page, or into a field of CSV.
//
// Errors   none: a byte that is not part of well-formed UTF-8 is read as U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::reporters {

struct CodePoint {
    char32_t value{};
    std::size_t length{};  // bytes of the text that form this code point, at least 1
};

// Returns the first code point of the text, which must not be empty.
[[nodiscard]] CodePoint first_code_point(std::string_view text);
void append_utf8(std::string& out, char32_t code_point);

// Returns the text as well-formed UTF-8; unchanged if it is well-formed already.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

// Returns the text as well-formed UTF-8, on one line and inert: it cannot control a terminal or a page that shows it.
// Line breaks and tabs become blanks. Other control characters, and those that change the writing direction, become
// U+FFFD.
[[nodiscard]] std::string inert_text(std::string_view text);

// As inert_text(), but keeps line breaks, for a text of many lines. A terminal can then safely show a format that is
// made for programs.
[[nodiscard]] std::string inert_lines(std::string_view text);

// Returns the text for the content of HTML elements and for attributes in double quotes. The result is inert, as from
// inert_text(), and & < > " ' are written as entities. The second of two # is also written as an entity, because "##"
// could begin a command in a log (without_commands).
[[nodiscard]] std::string escaped(std::string_view text);

// As escaped(), for XML 1.0. U+FFFE and U+FFFF, which XML cannot hold, become U+FFFD.
[[nodiscard]] std::string escaped_xml(std::string text);

// Returns a text from a file as a field of CSV by RFC 4180. Numbers need not pass through this function. The field is
// quoted if necessary. An apostrophe is put in front of a field that a spreadsheet would take for a formula: one that
// begins with = + - @, a tab or a carriage return. without_commands() is applied too.
[[nodiscard]] std::string csv_text(std::string_view text);

// Keeps texts of scenarios and results from giving commands to a CI service, whose runs hold secrets. A CI service
// takes some lines of its log for commands; this function puts a backslash into these lines. A line is taken for a
// command if it begins with "::" after any Unicode white space ("::error::"), or has "##", letters and "[" anywhere.
// The services are GitHub Actions ("::error::", "##[error]"), Azure Pipelines ("##vso[") and TeamCity ("##teamcity[").
[[nodiscard]] std::string without_commands(std::string_view text);

// Whether a line begins with "::", after any Unicode white space.
[[nodiscard]] bool begins_command(std::string_view line);

}  // namespace memsweep::reporters
