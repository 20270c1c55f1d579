#include "app/commands/shell_syntax.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/text.hpp"

namespace memsweep::app {
namespace {

bool is_variable_name(std::string_view name)
{
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !name.empty() && is_letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Whether the bracket at this place is in a pattern of files that are there: "f[12].txt". Else a shell leaves the word
// as it is, as in "pip install x[extra]".
bool is_in_pattern(std::string_view text, std::size_t bracket)
{
    constexpr std::string_view blanks = " \t\n";
    const std::size_t begin = text.find_last_of(blanks, bracket) + 1;  // npos + 1 is 0
    const std::string word{text.substr(begin, text.find_first_of(blanks, bracket) - begin)};
    glob_t found{};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): command lines are read before there are other threads
    const bool matches = word.find(']') != std::string::npos && ::glob(word.c_str(), 0, nullptr, &found) == 0;
    ::globfree(&found);
    return matches;
}

}  // namespace

std::string needs_shell(std::string_view text)
{
    static constexpr std::array<std::string_view, 26> builtins{
        "cd",  "export", "source", ".",    "ulimit", "eval",  "alias", "umask", "set",   "unset", "trap", "if", "while",
        "for", "until",  "case",   "time", "exec",   "local", "read",  "wait",  "shift", "exit",  ":",    "!",  "{"};
    const std::string_view trimmed = base::trimmed(text);
    const std::string_view first = trimmed.substr(0, trimmed.find_first_of(" \t\n;&|"));
    if (std::ranges::find(builtins, first) != builtins.end()) {
        return std::string{first};
    }
    if (const std::size_t sign = first.find('=');
        sign != std::string_view::npos && is_variable_name(first.substr(0, sign))) {
        return std::string{first};
    }
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && quote != '\'') {
            ++i;
        } else if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else if (quote == '"' && (c == '$' || c == '`')) {
                return std::string{c};
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '$' && text.substr(i).starts_with("${axis.")) {
            i = std::min(text.find('}', i), text.size());
        } else if (std::string_view{"<>|&;()*?$`\n"}.find(c) != std::string_view::npos ||
                   ((c == '~' || c == '#') && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) ||
                   (c == '[' && is_in_pattern(text, i))) {
            return std::string{c == '\n' ? ' ' : c};
        }
    }
    return {};
}

}  // namespace memsweep::app
