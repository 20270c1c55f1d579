#include "scenarios/reader/locator.hpp"

#include <algorithm>

namespace memsweep::scenarios {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view punctuation = "{}[],:";

bool continues_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // UTF-8: 10xxxxxx
}

}  // namespace

Locator::Locator(std::string_view text) : text_{text}
{
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    offset_ = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
}

Token Locator::next(bool separators)
{
    skip_blanks();
    while (!separators && offset_ < text_.size() && (text_[offset_] == ',' || text_[offset_] == ':')) {
        advance_to(offset_ + 1);
        skip_blanks();
    }
    const Token token{offset_, token_end(), line_, column_};
    advance_to(token.end);
    return token;
}

Token Locator::at(std::size_t offset) const
{
    Locator there = *this;
    there.advance_to(std::min(offset, text_.size()));
    return {there.offset_, there.offset_, there.line_, there.column_};
}

void Locator::advance_to(std::size_t offset)
{
    for (; offset_ < offset; ++offset_) {
        if (text_[offset_] == '\n') {
            ++line_;
            column_ = 1;
        } else if (!continues_character(text_[offset_])) {
            ++column_;
        }
    }
}

void Locator::skip_blanks()
{
    do {
        advance_to(std::min(text_.find_first_not_of(blanks, offset_), text_.size()));
    } while (skip_comment());
}

bool Locator::skip_comment()
{
    const std::string_view rest = text_.substr(offset_);
    if (rest.starts_with("//")) {
        advance_to(std::min(text_.find('\n', offset_), text_.size()));
        return true;
    }
    if (rest.starts_with("/*")) {
        const std::size_t end = text_.find("*/", offset_ + 2);
        advance_to(end == std::string_view::npos ? text_.size() : end + 2);
        return true;
    }
    return false;
}

std::size_t Locator::token_end() const
{
    if (offset_ >= text_.size()) {
        return text_.size();
    }
    if (text_[offset_] == '"') {
        return string_end();
    }
    if (punctuation.find(text_[offset_]) != std::string_view::npos) {
        return offset_ + 1;
    }
    const std::size_t end = text_.find_first_of(" \t\r\n{}[],:\"/", offset_ + 1);
    return std::min(end, text_.size());
}

std::size_t Locator::string_end() const
{
    for (std::size_t i = offset_ + 1; i < text_.size(); ++i) {
        if (text_[i] == '\\') {
            ++i;
        } else if (text_[i] == '"') {
            return i + 1;
        } else if (text_[i] == '\n') {
            return i;  // unterminated: a string ends with its line at the latest
        }
    }
    return text_.size();
}

}  // namespace memsweep::scenarios
