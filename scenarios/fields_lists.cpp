// The lists that Fields reads: extents and choices.
#include <utility>

#include <fmt/format.h>

#include "scenarios/fields.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/values.hpp"

namespace memsweep::scenarios {

void Fields::read(std::string_view key, std::vector<std::uint64_t>& into) const
{
    const Node* node = raw(key);
    if (node == nullptr) {
        return;
    }
    const OptionInfo& info = option(key);
    const List* list = node->as<List>();
    if (list == nullptr || list->empty() || list->size() > max_shape_rank) {
        complain(node->place, list == nullptr ? must_be(info, *node, *node)
                                              : fmt::format("\"{}\" must have 1 to {} extents", key, max_shape_rank));
        return;
    }
    OptionInfo extent = info;
    extent.kind = OptionKind::integer;
    for (const Node& item : *list) {
        into.push_back(read_whole(item, extent, reading_).value_or(1));
    }
}

void Fields::read(std::string_view key, std::vector<std::string>& into) const
{
    const Node* node = raw(key);
    if (node == nullptr) {
        return;
    }
    const List* list = node->as<List>();
    if (list == nullptr || list->empty()) {
        complain(node->place, must_be(option(key), *node, *node));
        return;
    }
    into.clear();
    for (std::size_t i = 0; i < list->size() && !reading_.diagnostics.full(); ++i) {
        if (auto name = read_choice_name((*list)[i], option(key), reading_)) {
            into.push_back(std::move(*name));
        }
    }
}

}  // namespace memsweep::scenarios
