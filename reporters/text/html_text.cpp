#include "reporters/text/html_text.hpp"

#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

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

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : inert_text(text)) {
        const std::string_view entity = entity_of(c);
        out += entity.empty() ? std::string_view{&c, 1} : entity;
    }
    return out;
}

}  // namespace memsweep::reporters
