#include "reporters/markdown/markdown_text.hpp"

#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

bool is_word(char c)
{
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// An underscore inside a word means nothing to GitHub, and names are full of them.
bool is_inside_word(std::string_view text, std::size_t at)
{
    return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

// Of a line, where it would begin a list, a heading, a quotation or a rule.
bool begins_block(std::string_view text, std::size_t at)
{
    constexpr std::string_view marks = "-+=";
    if (marks.find(text[at]) != std::string_view::npos) {
        return at == 0;
    }
    const bool ends_item = (text[at] == '.' || text[at] == ')') && (at + 1 == text.size() || text[at + 1] == ' ');
    return ends_item && at > 0 && text.find_first_not_of("0123456789") == at;
}

// An empty comment keeps two characters apart without being seen.
constexpr std::string_view apart = "<!-- -->";

void append(std::string& out, std::string_view text, std::size_t at)
{
    const char c = text[at];
    switch (c) {
    case '<':
        out += "&lt;";
        return;
    case '>':
        out += "&gt;";
        return;
    case '&':
        out += "&amp;";
        return;
    // As entities, since not everyone who splits a row into cells, or looks for code, minds a backslash.
    case '|':
        out += "&#124;";
        return;
    case '`':
        out += "&#96;";
        return;
    case '@':
    case '#':
        out += c == '#' ? "\\#" : "@";
        out += apart;
        return;
    case ':':
        out += c;
        out += text.substr(at).starts_with("://") ? apart : std::string_view{};
        return;
    case '.':
        if (at >= 3 && (text.substr(at - 3, 3) == "www" || text.substr(at - 3, 3) == "WWW")) {
            out += apart;
        }
        break;
    default:
        break;
    }
    constexpr std::string_view active = "\\*[]~$!";
    const bool is_underscore = c == '_' && !is_inside_word(text, at);
    if (active.find(c) != std::string_view::npos || is_underscore || begins_block(text, at)) {
        out += '\\';
    }
    out += c;
}

}  // namespace

std::string markdown_text(std::string_view text)
{
    const std::string inert = inert_text(text);
    const std::size_t begin = inert.find_first_not_of(' ');  // four blanks would make a block of code
    const std::string_view shown =
        begin == std::string::npos ? std::string_view{} : std::string_view{inert}.substr(begin);
    std::string out;
    for (std::size_t at = 0; at < shown.size(); ++at) {
        append(out, shown, at);
    }
    return out;
}

}  // namespace memsweep::reporters
