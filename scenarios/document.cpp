#include "scenarios/document.hpp"

#include <fmt/format.h>

#include "scenarios/document_builder.hpp"
#include "scenarios/files.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/text_check.hpp"

namespace memsweep::scenarios {
namespace {

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
    std::string operator()(double value) const { return fmt::format("{:#}", value); }  // 1.0, not 1
    std::string operator()(const std::string& value) const { return in_quotes(value); }
    std::string operator()(const List& /*value*/) const { return "a list"; }
    std::string operator()(const Object& /*value*/) const { return "an object"; }
};

}  // namespace

const Node* find(const Object& object, std::string_view key)
{
    for (const Member& member : object) {
        if (member.key == key) {
            return &member.value;
        }
    }
    return nullptr;
}

std::string describe(const Node& node)
{
    return std::visit(Describe{}, node.value);
}

std::optional<Node> parse_document(const Place& start, std::string_view text, Diagnostics& diagnostics)
{
    if (!is_readable(start, text, diagnostics)) {
        return std::nullopt;
    }
    DocumentBuilder builder{start, text, diagnostics};
    const bool parsed =
        nlohmann::json::sax_parse(text.begin(), text.end(), &builder, nlohmann::json::input_format_t::json, true, true);
    return parsed ? builder.take() : std::nullopt;
}

}  // namespace memsweep::scenarios
