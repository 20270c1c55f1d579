// One table per enumeration. It lists, for each value, the name that users write and the meaning. The scenario reader,
// `memsweep list`, the documentation and the reports all use these tables, so each name is spelled in one place.
#pragma once

#include <array>
#include <cstddef>
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

// The table of an enumeration, in the order of its enumerators: an array, defined by a specialization beside the
// enumeration.
template <typename Enum>
extern const int name_table;

// Whether `value` is an enumerator. The compiler spells an enumerator by its name and any other value as a cast,
// "(Order)3".
template <auto value>
[[nodiscard]] consteval bool is_enumerator()
{
    const std::string_view spelled{__PRETTY_FUNCTION__};
    return spelled[spelled.find_first_not_of(' ', spelled.rfind('=') + 1)] != '(';
}

// Whether the table has one row for each enumerator, in the same order.
template <typename Enum>
[[nodiscard]] consteval bool is_complete()
{
    constexpr auto& table = name_table<Enum>;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].value != static_cast<Enum>(i)) {
            return false;
        }
    }
    return !is_enumerator<static_cast<Enum>(table.size())>();
}

template <typename Enum>
[[nodiscard]] std::span<const Named<Enum>> names()
{
    static_assert(is_complete<Enum>(), "name_table lacks a row, or its rows are not in the order of the enumeration");
    return name_table<Enum>;
}

// Returns the row of a value. If the value is not an enumerator, name and meaning of the row are "?".
template <typename Enum>
[[nodiscard]] Named<Enum> entry_of(Enum value)
{
    const auto row = static_cast<std::size_t>(value);
    return row < names<Enum>().size() ? names<Enum>()[row] : Named<Enum>{value, "?", "?"};
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
