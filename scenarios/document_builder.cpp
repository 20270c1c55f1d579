#include "scenarios/document_builder.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/syntax_error.hpp"

namespace memsweep::scenarios {

DocumentBuilder::DocumentBuilder(const Place& start, std::string_view text, Diagnostics& diagnostics)
    : start_{start}, text_{text}, diagnostics_{diagnostics}, locator_{text}
{
}

bool DocumentBuilder::null()
{
    return leaf(std::monostate{});
}

bool DocumentBuilder::boolean(bool value)
{
    return leaf(value);
}

bool DocumentBuilder::number_integer(json::number_integer_t value)
{
    return leaf(value);
}

bool DocumentBuilder::number_unsigned(json::number_unsigned_t value)
{
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return leaf(std::uint64_t{value});
    }
    return leaf(static_cast<std::int64_t>(value));
}

bool DocumentBuilder::number_float(json::number_float_t value, const std::string& text)
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

bool DocumentBuilder::string(std::string& value)
{
    return leaf(std::move(value));
}

bool DocumentBuilder::binary(json::binary_t& /*value*/)
{
    return false;  // JSON text has none
}

bool DocumentBuilder::start_object(std::size_t /*size*/)
{
    return open(Object{});
}

bool DocumentBuilder::key(std::string& name)
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

bool DocumentBuilder::end_object()
{
    return close();
}

bool DocumentBuilder::start_array(std::size_t /*size*/)
{
    return open(List{});
}

bool DocumentBuilder::end_array()
{
    return close();
}

bool DocumentBuilder::parse_error(std::size_t position, const std::string& /*token*/,
                                  const nlohmann::detail::exception& error)
{
    SyntaxError syntax = explain_syntax_error(text_, locator_, position, error.what());
    diagnostics_.add(place_of(syntax.token), std::move(syntax.message));
    return false;
}

std::optional<Node> DocumentBuilder::take()
{
    return unusable_ ? std::nullopt : std::move(root_);
}

Place DocumentBuilder::next_place()
{
    return place_of(locator_.next());
}

Place DocumentBuilder::place_of(const Token& token) const
{
    return {start_.file, token.line, token.column, start_.name};
}

bool DocumentBuilder::leaf(decltype(Node::value) value)
{
    Node node{next_place(), std::move(value)};
    if (!count_value(node.place)) {
        return false;
    }
    attach(std::move(node));
    return true;
}

bool DocumentBuilder::open(decltype(Node::value) empty)
{
    Node node{next_place(), std::move(empty)};
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

bool DocumentBuilder::close()
{
    locator_.next();  // the closing bracket
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    attach(std::move(node));
    return true;
}

void DocumentBuilder::attach(Node node)
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

bool DocumentBuilder::count_value(const Place& place)
{
    if (++values_ <= max_values) {
        return true;
    }
    diagnostics_.add(place, fmt::format("more than {} values in one file", max_values));
    return false;
}

}  // namespace memsweep::scenarios
