#include "scenarios/substitution.hpp"

#include <utility>

#include <fmt/format.h>

#include "scenarios/limits.hpp"
#include "scenarios/placeholder.hpp"
#include "scenarios/quote.hpp"

namespace memsweep::scenarios {
namespace {

using Value = base::Expected<model::Scalar>;

tl::unexpected<base::Error> invalid(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

Value substitute_parts(std::string_view text, const Scope& scope)
{
    std::string out;
    while (true) {
        const std::size_t begin = text.find("${");
        out += text.substr(0, begin);
        if (out.size() > max_text_bytes) {
            return invalid(fmt::format("longer than {} bytes after substitution", max_text_bytes));
        }
        if (begin == std::string_view::npos) {
            return model::Scalar{std::move(out)};
        }
        const std::size_t end = text.find('}', begin);
        if (end == std::string_view::npos) {
            return invalid(fmt::format("{} lacks its closing brace", in_quotes(text.substr(begin))));
        }
        const bool whole = out.empty() && begin == 0 && end + 1 == text.size();
        Value value = placeholder_value(text.substr(begin + 2, end - begin - 2), whole, scope);
        if (!value || whole) {
            return value;
        }
        out += model::to_text(*value);
        text.remove_prefix(end + 1);
    }
}

}  // namespace

bool has_placeholder(std::string_view text)
{
    return text.find("${") != std::string_view::npos;
}

Value substitute(std::string_view text, const Scope& scope)
{
    if (text.size() > max_text_bytes) {
        return invalid(fmt::format("a string longer than {} bytes", max_text_bytes));
    }
    return substitute_parts(text, scope);
}

const Node* resolve(const Node& node, Node& storage, const Scope& scope, Diagnostics& diagnostics)
{
    const auto* text = node.as<std::string>();
    if (text == nullptr || (text->size() <= max_text_bytes && !has_placeholder(*text))) {
        return &node;
    }
    auto value = substitute(*text, scope);
    if (!value) {
        if (!value.error().message.empty()) {
            diagnostics.add(node.place, std::move(value.error().message));
        }
        return nullptr;
    }
    storage.place = node.place;
    std::visit([&](auto& scalar) { storage.value = std::move(scalar); }, *value);
    return &storage;
}

}  // namespace memsweep::scenarios
