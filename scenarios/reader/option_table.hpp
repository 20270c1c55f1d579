// The keys of one kind of object, each bound to a member of the struct that the object is read into.
//
// A row names its member by pointers to members. The default of a row is the member's value in a default-constructed
// struct. Examples:
//
//     integer<&ReleaseSpec::finalizer_nice>("finalizer_nice", 0, 19, "niceness of these threads")
//     size<&ReleaseSpec::managed, &ManagedBudget::tlab>("tlab", "an object larger than this ...")
//
// A choice takes its values from the names of the member's enumeration.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/names.hpp"
#include "core/model/scalar.hpp"

namespace memsweep::scenarios {

enum class OptionKind : std::uint8_t {
    size,      // "4KiB", or a bare number of bytes
    duration,  // "5ms", never bare
    integer,   // a whole number
    number,    // a decimal number
    boolean,   // true or false
    choice,    // one of the names of an enumeration
    choices,   // a list of names of an enumeration
    name,      // ^[a-z][a-z0-9_]*$
    text,      // any string
    texts,     // a string or a list of strings
    device,    // "gpu0"
    shape,     // a list of extents
    object,    // an object with its own table, or a map
    list,      // a list of objects
};

// A value from a file. A size, a duration or a device is converted to a number: of bytes, of nanoseconds, or of the
// device. monostate: no value, or no default.
using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>,
                           std::vector<std::string>>;

// How a key reads and writes its member. Both functions take an object of the type of the key's table.
struct Binding {
    Value (*get)(const void* object){};               // null: the key is not bound to a member
    void (*set)(void* object, const Value& value){};  // null: the reader handles the key itself
};

// How a key appears in the canonical form, from which fingerprints are made.
struct Canonical {
    enum class Form : std::uint8_t {
        unless_default,  // by name, unless it is the default: so a new key changes no fingerprint of older scenarios
        always,          // by name
        listed,          // without a name, at its position in a list of values
        left_out,
    };
    std::optional<Form> form;              // empty: as the table sets it, else unless_default
    std::string_view name;                 // name of the member, or JSON pointer of the list; empty: the key
    std::optional<std::size_t> position;   // position in the list; empty: after the row before
    bool (*counts)(const void* object){};  // whether to write the key; null: always
    Value (*get)(const void* object){};    // value to write; null: that of the binding
};

struct OptionInfo {
    std::string_view name;
    OptionKind kind{};
    std::string_view help;
    bool required{};
    bool nullable{};      // the file may say null, for "none"
    bool uses_arrays{};   // its value names arrays that earlier steps made
    std::uint64_t min{};  // min and max: bounds of a size, duration, integer or number, or of each extent of a shape
    std::uint64_t max{};
    std::vector<std::string_view> (*choices)(){};  // for the kinds choice and choices
    std::string default_text;                      // as a file has it, without quotes; empty: no default
    Binding binding;
    Canonical canonical;
};

[[nodiscard]] std::string_view kind_name(OptionKind kind);  // "size", "duration", "integer", ...
[[nodiscard]] std::string_view
unit_of(OptionKind kind);  // unit of min and max: "B", "ns", "1"; empty if there are no bounds
[[nodiscard]] bool has_bounds(OptionKind kind);
[[nodiscard]] std::string format_bound(OptionKind kind,
                                       std::uint64_t bound);   // as written in a file: "8KiB", "24h", "1,000"
[[nodiscard]] std::string accepted(const OptionInfo& option);  // "an integer from 1 to 1,000,000,000", for messages

// Writes a default as a file has it, without quotes: "256MiB", "60s", "0.5"; empty: no default.
[[nodiscard]] std::string format_default(OptionKind kind, const Value& value);

// The columns of `memsweep list --json`, and the cells of the row for one key.
inline constexpr std::array<std::string_view, 10> option_columns{"section", "key", "type", "required", "default",
                                                                 "min",     "max", "unit", "choices",  "meaning"};
[[nodiscard]] std::vector<model::Scalar> option_cells(std::string_view section, const OptionInfo& option);

inline constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();  // no allocator can give more
inline constexpr std::uint64_t any_integer = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t thousand_million = 1'000'000'000;
inline constexpr std::uint64_t millisecond = 1'000'000;  // in nanoseconds, like all bounds of durations
inline constexpr std::uint64_t hour = 3'600'000 * millisecond;

template <typename Object>
[[nodiscard]] const Object& as(const void* object)
{
    return *static_cast<const Object*>(object);
}

template <typename Object>
struct Row {
    OptionInfo option;  // an option without a name sets the canonical form of those later rows that set none themselves
    bool default_elsewhere{};

    [[nodiscard]] Row required() &&
    {
        return with([](OptionInfo& row) { row.required = true; });
    }
    [[nodiscard]] Row or_null() &&
    {
        return with([](OptionInfo& row) { row.nullable = true; });
    }
    [[nodiscard]] Row of_arrays() &&
    {
        return with([](OptionInfo& row) { row.uses_arrays = true; });
    }

    [[nodiscard]] Row within(std::uint64_t min, std::uint64_t max) &&
    {
        option.min = min;
        option.max = max;
        return std::move(*this);
    }
    [[nodiscard]] Row one_of(std::vector<std::string_view> (*choices)()) &&
    {
        option.choices = choices;
        return std::move(*this);
    }

    // The default depends on other keys, so the reader supplies it, and the table has no default.
    [[nodiscard]] Row without_default() &&
    {
        default_elsewhere = true;
        return std::move(*this);
    }

    // These three functions set how the row is written in the canonical form: under `name` if it is given, or into the
    // list `list`. If `counts` is given, the row is written only for objects for which `counts` returns true.
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row always(std::string_view name = {}, Counts counts = {}) &&
    {
        return canonical(Canonical::Form::always, name, counts);
    }
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row unless_default(std::string_view name = {}, Counts counts = {}) &&
    {
        return canonical(Canonical::Form::unless_default, name, counts);
    }
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row listed(std::string_view list, Counts counts = {}) &&
    {
        return canonical(Canonical::Form::listed, list, counts);
    }

    // Puts the row at this position of its list, instead of after the row before.
    [[nodiscard]] Row at(std::size_t position) &&
    {
        return with([&](OptionInfo& row) { row.canonical.position = position; });
    }
    [[nodiscard]] Row left_out() && { return std::move(*this).canonical(Canonical::Form::left_out, {}, nullptr); }

    // Writes get(object) into the canonical form, instead of the value that was read.
    template <typename Get>
    [[nodiscard]] Row by(Get /*get*/) &&
    {
        return with([](OptionInfo& row) {
            row.canonical.get = [](const void* object) { return Value{Get{}(as<Object>(object))}; };
        });
    }

  private:
    template <typename Change>
    Row with(const Change& change)
    {
        change(option);
        return std::move(*this);
    }

    template <typename Counts>
    Row canonical(Canonical::Form form, std::string_view name, Counts /*counts*/)
    {
        option.canonical.form = form;
        option.canonical.name = name;
        if constexpr (!std::same_as<Counts, std::nullptr_t>) {
            option.canonical.counts = [](const void* object) { return Counts{}(as<Object>(object)); };
        }
        return std::move(*this);
    }
};

// The rows for objects of one type, in the order of the documentation. Keys are read in the same order.
template <typename Object>
class OptionTable {
  public:
    OptionTable(std::initializer_list<Row<Object>> rows)
    {
        Canonical usual;
        for (const Row<Object>& row : rows) {
            if (row.option.name.empty()) {
                usual = row.option.canonical;
            } else {
                add(row, usual);
            }
        }
    }

    // Appends a row. Its default is the value in a default-constructed object. `usual`: the row's canonical form if the
    // row sets none.
    void add(Row<Object> row, const Canonical& usual = {})
    {
        OptionInfo& option = row.option;
        if (!option.required && !row.default_elsewhere && option.binding.get != nullptr) {
            option.default_text = format_default(option.kind, option.binding.get(&plain()));
        }
        if (!option.canonical.form) {
            option.canonical.form = usual.form;
            option.canonical.name = usual.name;
            option.canonical.counts = usual.counts;
        }
        options_.push_back(std::move(option));
    }

    // Returns this table with the rows of `others` appended.
    [[nodiscard]] OptionTable then(const OptionTable& others) &&
    {
        options_.insert(options_.end(), others.options_.begin(), others.options_.end());
        return std::move(*this);
    }

    // Returns a copy of this table in which rows that set no canonical form have the form `always`.
    [[nodiscard]] OptionTable always() const
    {
        OptionTable table = *this;
        for (OptionInfo& option : table.options_) {
            option.canonical.form = option.canonical.form.value_or(Canonical::Form::always);
        }
        return table;
    }

    [[nodiscard]] std::span<const OptionInfo> options() const { return options_; }
    [[nodiscard]] static const Object& plain()
    {
        static const Object object{};
        return object;
    }

  private:
    std::vector<OptionInfo> options_;
};

namespace rows {

template <typename Owner, typename Member, typename... Rest>
Owner owner_of(Member Owner::*first, Rest... rest);
template <auto... member_path>
using Object = decltype(owner_of(member_path...));

template <auto first, auto... rest>
auto& member(auto& object)
{
    if constexpr (sizeof...(rest) == 0) {
        return object.*first;
    } else {
        return member<rest...>(object.*first);
    }
}

template <typename Member>
Value to_value(const Member& member)
{
    if constexpr (std::is_enum_v<Member>) {
        return std::string{model::name_of(member)};
    } else if constexpr (std::same_as<Member, std::chrono::nanoseconds>) {
        return static_cast<std::uint64_t>(member.count());
    } else if constexpr (std::unsigned_integral<Member> && !std::same_as<Member, bool>) {
        return static_cast<std::uint64_t>(member);
    } else {
        return member;
    }
}

// The kind and bounds of the row guarantee that the value has the member's type and fits.
template <typename Member>
void assign(Member& member, const Value& value)
{
    if constexpr (std::is_enum_v<Member>) {
        member = model::value_of<Member>(std::get<std::string>(value)).value_or(member);
    } else if constexpr (std::same_as<Member, std::chrono::nanoseconds>) {
        member = std::chrono::nanoseconds{static_cast<std::int64_t>(std::get<std::uint64_t>(value))};
    } else if constexpr (std::unsigned_integral<Member> && !std::same_as<Member, bool>) {
        member = static_cast<Member>(std::get<std::uint64_t>(value));
    } else {
        member = std::get<Member>(value);
    }
}

// Makes a row without a name. The rows after this one are written into the list `list` of the canonical form, one after
// the other. For objects for which `counts` returns false, they are left out.
template <typename Object, typename Counts = std::nullptr_t>
Row<Object> listed_below(std::string_view list, Counts counts = {})
{
    return Row<Object>{}.listed(list, counts);
}

// Makes a row for a key that the reader handles itself, so the key is not bound to a member.
template <typename Object>
Row<Object> key(std::string_view name, OptionKind kind, std::string_view help)
{
    Row<Object> row;
    row.option.name = name;
    row.option.kind = kind;
    row.option.help = help;
    row.option.canonical.form = Canonical::Form::left_out;
    return row;
}

// Makes a row for the version of a format; so far only version 1 exists.
template <typename Object>
Row<Object> version_key()
{
    return key<Object>("version", OptionKind::integer, "of the format").within(1, 1).required();
}

// Makes a row for a key. Get(object) reads its value from the object, Set(object, value) writes the value to the
// object.
template <typename Object, typename Get, typename Set>
Row<Object> bound(std::string_view name, OptionKind kind, std::string_view help, Get /*get*/, Set /*set*/)
{
    Row<Object> row = key<Object>(name, kind, help);
    row.option.canonical.form.reset();
    row.option.binding = {[](const void* object) { return Value{Get{}(as<Object>(object))}; },
                          [](void* object, const Value& value) { Set{}(*static_cast<Object*>(object), value); }};
    return row;
}

template <auto... member_path>
auto row(std::string_view name, OptionKind kind, std::string_view help)
{
    using Owner = Object<member_path...>;
    return bound<Owner>(
        name, kind, help, [](const Owner& object) { return to_value(member<member_path...>(object)); },
        [](Owner& object, const Value& value) { assign(member<member_path...>(object), value); });
}

template <auto... member_path>
auto bounded(std::string_view name, OptionKind kind, std::uint64_t min, std::uint64_t max, std::string_view help)
{
    return row<member_path...>(name, kind, help).within(min, max);
}

template <auto... member_path>
auto size(std::string_view name, std::uint64_t min, std::uint64_t max, std::string_view help)
{
    return bounded<member_path...>(name, OptionKind::size, min, max, help);
}

template <auto... member_path>
auto size(std::string_view name, std::string_view help)
{
    return size<member_path...>(name, 0, any_size, help);
}

template <auto... member_path>
auto duration(std::string_view name, std::uint64_t min, std::uint64_t max, std::string_view help)
{
    return bounded<member_path...>(name, OptionKind::duration, min, max, help);
}

template <auto... member_path>
auto integer(std::string_view name, std::uint64_t min, std::uint64_t max, std::string_view help)
{
    return bounded<member_path...>(name, OptionKind::integer, min, max, help);
}

template <auto... member_path>
auto number(std::string_view name, std::uint64_t min, std::uint64_t max, std::string_view help)
{
    return bounded<member_path...>(name, OptionKind::number, min, max, help);
}

template <auto... member_path>
auto flag(std::string_view name, std::string_view help)
{
    return row<member_path...>(name, OptionKind::boolean, help);
}

template <auto... member_path>
auto name(std::string_view key, std::string_view help)
{
    return row<member_path...>(key, OptionKind::name, help);
}

template <auto... member_path>
auto text(std::string_view key, std::string_view help)
{
    return row<member_path...>(key, OptionKind::text, help);
}

template <auto... member_path>
auto choice(std::string_view name, std::string_view help)
{
    using Enum = std::remove_cvref_t<decltype(member<member_path...>(std::declval<Object<member_path...>&>()))>;
    return row<member_path...>(name, OptionKind::choice, help).one_of(model::all_names<Enum>);
}

}  // namespace rows

}  // namespace memsweep::scenarios
