#include "scenarios/labels.hpp"

#include <fmt/format.h>

#include "scenarios/text_check.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::string_view scenario_format = "memsweep-scenario";

void check_text(const Fields& top, std::string_view key)
{
    const Node* node = top.raw(key);
    if (node != nullptr && node->as<std::string>() == nullptr) {
        top.complain(node->place, fmt::format("\"{}\" must be a string, not {}", key, describe(*node)));
    }
}

}  // namespace

bool check_format(const Fields& top)
{
    const Node* format = top.raw("format");
    const auto* name = format == nullptr ? nullptr : format->as<std::string>();
    if (format != nullptr && (name == nullptr || *name != scenario_format)) {
        top.complain(format->place,
                     fmt::format("\"format\" must be \"{}\", not {}", scenario_format, describe(*format)));
        return false;
    }
    const Node* version = top.raw("version");
    const auto* number = version == nullptr ? nullptr : version->as<std::int64_t>();
    if (version != nullptr && (number == nullptr || *number != 1)) {
        top.complain(version->place, fmt::format("\"version\" must be 1, the only one this memsweep reads, not {}",
                                                 describe(*version)));
    }
    return true;
}

void check_texts(const Fields& top)
{
    check_text(top, "$schema");
    check_text(top, "description");
}

void read_labels(const Fields& top, model::Plan& plan)
{
    if (const Node* name = top.raw("name")) {
        const auto* text = name->as<std::string>();
        if (text == nullptr || !is_name(*text)) {
            top.complain(name->place,
                         fmt::format("\"name\" must be a lower-case letter, then letters, digits and _, not {}",
                                     describe(*name)));
        } else {
            plan.name = *text;
        }
    }
    check_texts(top);
    const Node* description = top.raw("description");
    const auto* text = description == nullptr ? nullptr : description->as<std::string>();
    plan.description = text == nullptr ? std::string{} : *text;
}

}  // namespace memsweep::scenarios
