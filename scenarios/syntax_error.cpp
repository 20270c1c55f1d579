#include "scenarios/syntax_error.hpp"

#include <algorithm>

namespace memsweep::scenarios {
namespace {

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: TEXT; last read: 'X'; expected Y" -> "TEXT;
// expected Y". What was read last may be a megabyte long.
std::string shorten(std::string_view what)
{
    if (const std::size_t column = what.find(", column "); column != std::string_view::npos) {
        const std::size_t colon = what.find(": ", column);
        what.remove_prefix(colon == std::string_view::npos ? 0 : colon + 2);
    } else if (const std::size_t bracket = what.find("] "); bracket != std::string_view::npos) {
        what.remove_prefix(bracket + 2);
    }
    const std::size_t read = what.find("; last read: ");
    if (read == std::string_view::npos) {
        return std::string{what};
    }
    const std::size_t expected = what.rfind("; expected ");
    const bool behind = expected != std::string_view::npos && expected > read;
    return std::string{what.substr(0, read)} + (behind ? std::string{what.substr(expected)} : std::string{});
}

}  // namespace

SyntaxError explain_syntax_error(std::string_view text, Locator locator, std::size_t position, std::string_view what)
{
    const bool in_string = contains(what, "invalid string") && !contains(what, "missing closing quote");
    if (in_string && position > 0) {
        return {locator.at(position - 1), shorten(what)};  // the very character
    }
    if (contains(what, "unexpected end of input")) {
        return {locator.at(text.size()), shorten(what)};
    }
    // The lexer reads one character past a broken literal or number: without separators the next token is that one.
    const bool broken_word = contains(what, "invalid literal") || contains(what, "invalid number");
    char before = '\0';
    const std::size_t read = std::min(position, text.size());  // the library counts the end of the text as one more
    Token token = locator.next(!broken_word);
    while (!broken_word && token.end < read && token.begin < text.size()) {
        before = text[token.begin];
        token = locator.next(true);
    }
    const bool closes = token.begin < text.size() && (text[token.begin] == ']' || text[token.begin] == '}');
    if (closes && before == ',') {
        return {token, "trailing comma: JSON allows none before the closing bracket"};
    }
    return {token, shorten(what)};
}

}  // namespace memsweep::scenarios
