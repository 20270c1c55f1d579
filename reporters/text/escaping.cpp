#include "reporters/text/escaping.hpp"

#include <array>

namespace memsweep::reporters {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Lead {
    std::size_t length{};  // 0: no lead byte
    char32_t bits{};
    char32_t least{};  // a smaller value would be an overlong form
};

Lead read_lead(unsigned char byte)
{
    if (byte < 0x80) {
        return {1, byte, 0};
    }
    if (byte >= 0xC2 && byte < 0xE0) {
        return {2, byte & 0x1FU, 0x80};
    }
    if (byte >= 0xE0 && byte < 0xF0) {
        return {3, byte & 0x0FU, 0x800};
    }
    if (byte >= 0xF0 && byte < 0xF5) {
        return {4, byte & 0x07U, 0x10000};
    }
    return {};
}

bool is_scalar_value(char32_t value)
{
    return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

bool turns_direction(char32_t value)
{
    return value == 0x61C || value == 0x200E || value == 0x200F || (value >= 0x202A && value <= 0x202E) ||
           (value >= 0x2066 && value <= 0x2069);
}

bool is_control(char32_t value)
{
    return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x2028 || value == 0x2029;
}

// As .NET's Char.IsWhiteSpace has it, in which the runner of GitHub Actions is written: it trims all of these.
bool is_white_space(char32_t value)
{
    return (value >= 0x9 && value <= 0xD) || value == 0x20 || value == 0x85 || value == 0xA0 || value == 0x1680 ||
           (value >= 0x2000 && value <= 0x200A) || value == 0x2028 || value == 0x2029 || value == 0x202F ||
           value == 0x205F || value == 0x3000;
}

char32_t inert(char32_t value)
{
    if (value == '\n' || value == '\r' || value == '\t') {
        return ' ';
    }
    return is_control(value) || turns_direction(value) ? replacement : value;
}

template <typename Map>  // map(code point) -> code point
std::string mapped(std::string_view text, Map map)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        append_utf8(out, map(next.value));
        text.remove_prefix(next.length);
    }
    return out;
}

std::string_view entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return {};
    }
}

}  // namespace

CodePoint first_code_point(std::string_view text)
{
    const Lead lead = read_lead(static_cast<unsigned char>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) {
        return {replacement, 1};
    }
    char32_t value = lead.bits;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) != 0x80U) {
            return {replacement, 1};
        }
        value = (value << 6U) | (byte & 0x3FU);
    }
    return value >= lead.least && is_scalar_value(value) ? CodePoint{value, lead.length} : CodePoint{replacement, 1};
}

void append_utf8(std::string& out, char32_t code_point)
{
    const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
    if (code_point < 0x80) {
        out += byte(code_point);
    } else if (code_point < 0x800) {
        out += byte(0xC0U | (code_point >> 6U));
        out += byte(0x80U | (code_point & 0x3FU));
    } else if (code_point < 0x10000) {
        out += byte(0xE0U | (code_point >> 12U));
        out += byte(0x80U | ((code_point >> 6U) & 0x3FU));
        out += byte(0x80U | (code_point & 0x3FU));
    } else {
        out += byte(0xF0U | (code_point >> 18U));
        out += byte(0x80U | ((code_point >> 12U) & 0x3FU));
        out += byte(0x80U | ((code_point >> 6U) & 0x3FU));
        out += byte(0x80U | (code_point & 0x3FU));
    }
}

std::string repaired_utf8(std::string_view text)
{
    return mapped(text, [](char32_t value) { return value; });
}

std::string inert_text(std::string_view text)
{
    return mapped(text, inert);
}

std::string inert_lines(std::string_view text)
{
    return mapped(text, [](char32_t value) { return value == '\n' ? value : inert(value); });
}

bool begins_command(std::string_view line)
{
    while (!line.empty() && is_white_space(first_code_point(line).value)) {
        line.remove_prefix(first_code_point(line).length);
    }
    return line.starts_with("::");
}

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : inert_text(text)) {
        const std::string_view entity = c == '#' && out.ends_with('#') ? "&#35;" : entity_of(c);
        out += entity.empty() ? std::string_view{&c, 1} : entity;
    }
    return out;
}

std::string without_commands(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    bool at_start = true;     // nothing but white space so far on this line
    bool in_keyword = false;  // "##", or letters behind it
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        const bool is_letter = (next.value >= 'a' && next.value <= 'z') || (next.value >= 'A' && next.value <= 'Z');
        if ((at_start && text.starts_with("::")) || (in_keyword && next.value == '[')) {
            out += '\\';
        }
        in_keyword = (out.ends_with('#') && next.value == '#') || (in_keyword && is_letter);
        at_start = next.value == '\n' || next.value == '\r' || (at_start && is_white_space(next.value));
        out += text.substr(0, next.length);
        text.remove_prefix(next.length);
    }
    return out;
}

std::string escaped_xml(std::string text)
{
    constexpr std::array<std::string_view, 2> noncharacters{"\xEF\xBF\xBE", "\xEF\xBF\xBF"};
    for (const std::string_view character : noncharacters) {
        for (std::size_t at = text.find(character); at != std::string::npos; at = text.find(character, at)) {
            text.replace(at, character.size(), "\uFFFD");
        }
    }
    return escaped(text);
}

std::string csv_text(std::string_view text)
{
    constexpr std::string_view formula = "=+-@\t\r";
    const bool computes = !text.empty() && formula.find(text.front()) != std::string_view::npos;
    std::string field = (computes ? "'" : "") + without_commands(repaired_utf8(text));
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
        return field;
    }
    std::string quoted = "\"";
    for (const char c : field) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

}  // namespace memsweep::reporters
