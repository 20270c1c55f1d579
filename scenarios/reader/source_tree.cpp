#include "scenarios/reader/source_tree.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::scenarios {
namespace {

struct Token {
    std::size_t begin{};  // offset in the text
    std::size_t end{};
    std::uint32_t line{1};
    std::uint32_t column{1};
};

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view punctuation = "{}[],:";

bool continues_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // UTF-8: 10xxxxxx
}

// Follows a JSON parser through the text and says where each token stands: nlohmann's SAX events carry values but no
// places, and its own counter stands behind the token, sometimes one character further. It is asked only for tokens
// that the parser accepted, and stays inside the text for any other.
class Locator {
  public:
    explicit Locator(std::string_view text) : text_{text}
    {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        offset_ = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    }

    // The next token: a string, number, literal or bracket; blanks, comments and, when `separators` is false, commas
    // and colons are passed over.
    Token next(bool separators = false)
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

    // The place of an offset that lies at or behind the last token.
    [[nodiscard]] Token at(std::size_t offset) const
    {
        Locator there = *this;
        there.advance_to(std::min(offset, text_.size()));
        return {there.offset_, there.offset_, there.line_, there.column_};
    }

  private:
    void advance_to(std::size_t offset)
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

    void skip_blanks()
    {
        do {
            advance_to(std::min(text_.find_first_not_of(blanks, offset_), text_.size()));
        } while (skip_comment());
    }

    bool skip_comment()
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

    [[nodiscard]] std::size_t token_end() const
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

    [[nodiscard]] std::size_t string_end() const
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

    std::string_view text_;
    std::size_t offset_{};
    std::uint32_t line_{1};
    std::uint32_t column_{1};
};

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: TEXT; last read: 'X'; expected Y" -> "TEXT;
// expected Y". What was read last may be a megabyte long, and may itself say "; expected".
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
    constexpr std::string_view longest_end = "; expected '[', '{', or a literal";
    const std::size_t expected = what.rfind("; expected ");
    const bool ends =
        expected != std::string_view::npos && expected > read && what.size() - expected <= longest_end.size();
    return std::string{what.substr(0, read)} + (ends ? std::string{what.substr(expected)} : std::string{});
}

struct SyntaxError {
    Token token;
    std::string message;
};

// `what` is the library's message, `position` its count of bytes read, `locator` stands behind the last good token.
SyntaxError explain_syntax_error(std::string_view text, Locator locator, std::size_t position, std::string_view what)
{
    const bool in_string = contains(what, "invalid string") && !contains(what, "missing closing quote");
    if (in_string && position > 0) {
        return {locator.at(position - 1), shorten(what)};  // the very character
    }
    if (text.empty()) {  // of which the library speaks in other words since 3.11.3
        return {locator.at(0),
                "syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal"};
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

class DocumentBuilder {
  public:
    using json = nlohmann::json;  // NOLINT(readability-identifier-naming): the name nlohmann's SAX interface asks for

    DocumentBuilder(const Place& start, std::string_view text, Diagnostics& diagnostics)
        : start_{start}, text_{text}, diagnostics_{diagnostics}, locator_{text}
    {
    }

    bool null() { return leaf(std::monostate{}); }

    bool boolean(bool value) { return leaf(value); }

    bool number_integer(json::number_integer_t value) { return leaf(value); }

    bool number_unsigned(json::number_unsigned_t value)
    {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return leaf(std::uint64_t{value});
        }
        return leaf(static_cast<std::int64_t>(value));
    }

    bool number_float(json::number_float_t value, const std::string& text)
    {
        // An integer too long for 64 bits arrives here, already rounded.
        if (text.find_first_of(".eE") == std::string::npos) {
            const Locator before = locator_;
            diagnostics_.add(next_place(), "the integer does not fit 64 bits");
            locator_ = before;
            unusable_ = true;
        }
        return leaf(value);
    }

    bool string(std::string& value) { return leaf(std::move(value)); }

    bool binary(json::binary_t& /*value*/)
    {
        return false;  // JSON text has none
    }

    bool start_object(std::size_t /*size*/) { return open(Object{}); }

    bool key(std::string& name)
    {
        Frame& frame = stack_.back();
        frame.key_place = next_place();
        frame.key = std::move(name);
        const auto [first, fresh] = frame.lines.try_emplace(frame.key, frame.key_place.line);
        frame.skip = !fresh || frame.key.starts_with("x-");
        if (!fresh) {
            diagnostics_.add(frame.key_place,
                             fmt::format("duplicate key {}, first at line {}", in_quotes(frame.key), first->second));
        }
        return true;
    }

    bool end_object() { return close(); }

    bool start_array(std::size_t /*size*/) { return open(List{}); }

    bool end_array() { return close(); }

    bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& error)
    {
        SyntaxError syntax = explain_syntax_error(text_, locator_, position, error.what());
        diagnostics_.add(place_of(syntax.token), std::move(syntax.message));
        return false;
    }

    // The finished tree; empty after an error that leaves a value unusable.
    [[nodiscard]] std::optional<SourceNode> take() { return unusable_ ? std::nullopt : std::move(root_); }

  private:
    struct Frame {
        SourceNode node;
        std::map<std::string, std::uint32_t> lines;  // where an object's keys stand, to find duplicates
        std::string key;                             // the member being read
        Place key_place;
        bool skip{};  // the member's key is free (x-) or a repetition: its value is dropped
    };

    Place next_place() { return place_of(locator_.next()); }

    [[nodiscard]] Place place_of(const Token& token) const
    {
        return {start_.file, token.line, token.column, start_.name};
    }

    bool leaf(decltype(SourceNode::value) value)
    {
        SourceNode node{next_place(), std::move(value)};
        if (!count_value(node.place)) {
            return false;
        }
        attach(std::move(node));
        return true;
    }

    bool open(decltype(SourceNode::value) empty)
    {
        SourceNode node{next_place(), std::move(empty)};
        if (!count_value(node.place)) {
            return false;
        }
        if (stack_.size() >= max_depth) {
            diagnostics_.add(node.place, fmt::format("nested deeper than {} levels", max_depth));
            return false;
        }
        stack_.push_back({std::move(node), {}, {}, {}, false});
        return true;
    }

    bool close()
    {
        locator_.next();  // the closing bracket
        SourceNode node = std::move(stack_.back().node);
        stack_.pop_back();
        attach(std::move(node));
        return true;
    }

    void attach(SourceNode node)
    {
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& parent = stack_.back();
        if (List* list = std::get_if<List>(&parent.node.value)) {
            list->push_back(std::move(node));
        } else if (!parent.skip) {
            std::get<Object>(parent.node.value).push_back({parent.key, parent.key_place, std::move(node)});
        }
    }

    bool count_value(const Place& place)
    {
        if (++values_ <= max_values) {
            return true;
        }
        diagnostics_.add(place, fmt::format("more than {} values in one file", max_values));
        return false;
    }

    Place start_;
    std::string_view text_;
    Diagnostics& diagnostics_;
    Locator locator_;
    std::vector<Frame> stack_;
    std::optional<SourceNode> root_;
    std::size_t values_{};
    bool unusable_{};
};

bool is_readable(const Place& start, std::string_view text, Diagnostics& diagnostics)
{
    if (text.size() > max_file_bytes) {
        diagnostics.add(start, fmt::format("the file is larger than {} bytes", max_file_bytes));
        return false;
    }
    if (const auto bad = find_bad_byte(text)) {
        const Token token = Locator{text}.at(bad->offset);
        diagnostics.add({start.file, token.line, token.column, start.name},
                        fmt::format("{}: byte 0x{:02x}", bad->what, static_cast<unsigned char>(text[bad->offset])));
        return false;
    }
    return true;
}

struct Describe {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const
    {
        const std::string text = fmt::format("{}", value);
        return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;  // 1.0, not 1; fmt 10 makes {:#} 1.
    }
    std::string operator()(const std::string& value) const { return in_quotes(value); }
    std::string operator()(const List& value) const { return value.empty() ? "an empty list" : "a list"; }
    std::string operator()(const Object& /*value*/) const { return "an object"; }
};

}  // namespace

const SourceNode* find(const Object& object, std::string_view key)
{
    for (const Member& member : object) {
        if (member.key == key) {
            return &member.value;
        }
    }
    return nullptr;
}

std::string describe(const SourceNode& node)
{
    return std::visit(Describe{}, node.value);
}

std::optional<SourceNode> parse_source(const Place& start, std::string_view text, Diagnostics& diagnostics)
{
    if (!is_readable(start, text, diagnostics)) {
        return std::nullopt;
    }
    DocumentBuilder builder{start, text, diagnostics};
    const bool parsed =
        nlohmann::json::sax_parse(text.begin(), text.end(), &builder, nlohmann::json::input_format_t::json, true, true);
    return parsed ? builder.take() : std::nullopt;
}

const SourceNode* Sources::add(const std::string& name, std::string_view text)
{
    names_.push_back(name);
    ++files_;
    auto root = parse_source(Place{files_, 1, 1, names_.back()}, text, diagnostics_);
    return root ? &roots_.emplace_back(std::move(*root)) : nullptr;
}

Place Sources::flag(std::string text)
{
    names_.push_back(std::move(text));
    return Place{0, 0, 0, names_.back()};
}

}  // namespace memsweep::scenarios
