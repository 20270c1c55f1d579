#include "reporters/html/glossary_html.hpp"

#include <vector>

#include <fmt/format.h>

#include "reporters/html/page_assets.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_word(std::string_view body, std::string_view word)
{
    for (std::size_t at = body.find(word); at != std::string_view::npos; at = body.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool is_plural = end < body.size() && body[end] == 's';
        const std::size_t behind = is_plural ? end + 1 : end;
        if ((at == 0 || !is_letter(body[at - 1])) && (behind >= body.size() || !is_letter(body[behind]))) {
            return true;
        }
    }
    return false;
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view between)
{
    std::vector<std::string_view> parts;
    for (std::size_t at = text.find(between); at != std::string_view::npos; at = text.find(between)) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + between.size());
    }
    parts.push_back(text);
    return parts;
}

}  // namespace

std::string glossary_html(std::string_view body)
{
    std::string entries;
    for (const std::string_view line : parts_of(glossary(), "\n")) {
        const std::vector<std::string_view> cells = parts_of(line, " | ");
        constexpr std::string_view begin = "| ";
        if (cells.size() < 3 || !line.starts_with(begin) || cells[0] == "| word") {
            continue;
        }
        const std::string_view words = cells[0].substr(begin.size());
        for (const std::string_view word : parts_of(words, ", ")) {
            if (has_word(body, word)) {
                entries += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(words), escaped(cells[1]));
                break;
            }
        }
    }
    return entries.empty() ? entries
                           : "<details class=\"more\"><summary>Words of this page</summary>\n<dl>\n" + entries +
                                 "</dl>\n</details>\n";
}

}  // namespace memsweep::reporters
