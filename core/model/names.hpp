// One table per enumeration: the name users write, and what it means. The loader, `memsweep list`, the
// documentation and the reports all read these tables, so that a name is spelled in one place.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace memsweep::model {

template <typename Enum>
struct Named {
    Enum value;
    std::string_view name;
    std::string_view meaning;
};

// The whole table, in the order of the enumeration: specialised as an array beside each.
template <typename Enum>
extern const int name_table;

template <typename Enum>
[[nodiscard]] std::span<const Named<Enum>> names()
{
    return name_table<Enum>;
}

// "?" for a value that the table lacks.
template <typename Enum>
[[nodiscard]] Named<Enum> entry_of(Enum value)
{
    for (const auto& entry : names<Enum>()) {
        if (entry.value == value) {
            return entry;
        }
    }
    return {value, "?", "?"};
}

template <typename Enum>
[[nodiscard]] std::string_view name_of(Enum value)
{
    return entry_of(value).name;
}

template <typename Enum>
[[nodiscard]] std::string_view meaning_of(Enum value)
{
    return entry_of(value).meaning;
}

template <typename Enum>
[[nodiscard]] std::optional<Enum> value_of(std::string_view name)
{
    for (const auto& entry : names<Enum>()) {
        if (entry.name == name) {
            return entry.value;
        }
    }
    return std::nullopt;
}

template <typename Enum>
[[nodiscard]] std::vector<std::string_view> all_names()
{
    std::vector<std::string_view> all;
    for (const auto& entry : names<Enum>()) {
        all.push_back(entry.name);
    }
    return all;
}

}  // namespace memsweep::model
