// The keys of one kind of object, each bound to a member of the struct that the object is read into.
//
// A row names the member by pointers, so that its default is that of a default-constructed struct:
//
//     integer<&ReleaseSpec::finalizer_nice>("finalizer_nice", 0, 19, "niceness of these threads")
//     size<&ReleaseSpec::managed, &ManagedBudget::tlab>("tlab", "an object larger than this ...")
//
// A choice takes its values from the names of the member's enumeration.
#pragma once

#include <chrono>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/model/names.hpp"
#include "scenarios/reader/option.hpp"

namespace memsweep::scenarios {

inline constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();  // no allocator gives more
inline constexpr std::uint64_t any_integer = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t thousand_million = 1'000'000'000;
inline constexpr std::uint64_t millisecond = 1'000'000;  // in nanoseconds, as all bounds of durations
inline constexpr std::uint64_t hour = 3'600'000 * millisecond;

template <typename Object>
[[nodiscard]] const Object& as(const void* object)
{
    return *static_cast<const Object*>(object);
}

template <typename Object>
struct Row {
    OptionInfo option;
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

    // Its default depends on other keys; the reader supplies it.
    [[nodiscard]] Row without_default() &&
    {
        default_elsewhere = true;
        return std::move(*this);
    }

    // In the canonical form, under a name of its own where `name` is given; `counts`: in these objects only.
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row always(std::string_view name = {}, Counts counts = {}) &&
    {
        return canonical(Canonical::Form::always, name, counts);
    }
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row unless_default(std::string_view name, Counts counts = {}) &&
    {
        return canonical(Canonical::Form::unless_default, name, counts);
    }
    template <typename Counts = std::nullptr_t>
    [[nodiscard]] Row listed(std::string_view list, Counts counts = {}, std::optional<std::size_t> position = {}) &&
    {
        option.canonical.position = position;
        return std::move(*this).canonical(Canonical::Form::listed, list, counts);
    }
    [[nodiscard]] Row left_out() && { return std::move(*this).canonical(Canonical::Form::left_out, {}, nullptr); }

    // By another value than the one read; `get` takes the object.
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

// The rows for objects of one type, in the order of the documentation, in which they are also read.
template <typename Object>
class OptionTable {
  public:
    OptionTable(std::initializer_list<Row<Object>> rows)
    {
        for (const Row<Object>& row : rows) {
            add(row);
        }
    }

    // Adds a row behind the others. Its default is that of a default-constructed object.
    void add(Row<Object> row)
    {
        OptionInfo& option = row.option;
        if (!option.required && !row.default_elsewhere && option.binding.get != nullptr) {
            option.default_text = format_default(option.kind, option.binding.get(&plain()));
        }
        options_.push_back(std::move(option));
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

template <typename Pointer>
struct PointsTo;
template <typename Owner, typename Field>
struct PointsTo<Field Owner::*> {
    using Object = Owner;
    using Member = Field;
};

template <auto first, auto... rest>
struct OwnerOf {
    using Object = typename PointsTo<decltype(first)>::Object;
};
template <auto... member_path>
using Object = typename OwnerOf<member_path...>::Object;

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

// The row's kind and bounds say that the value has the member's type and fits.
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

// A key that the reader takes by itself: it is bound to no member.
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

// The version of a format, of which there is one so far.
template <typename Object>
Row<Object> version_key()
{
    Row<Object> row = key<Object>("version", OptionKind::integer, "of the format").required();
    row.option.min = 1;
    row.option.max = 1;
    return row;
}

// A key whose value comes from and goes to the object by functions: Get(object), Set(object, value).
template <typename Object, typename Get, typename Set>
Row<Object> bound(std::string_view name, OptionKind kind, std::string_view help, Get /*get*/, Set /*set*/)
{
    Row<Object> row = key<Object>(name, kind, help);
    row.option.canonical.form = Canonical::Form::unless_default;
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
    auto made = row<member_path...>(name, kind, help);
    made.option.min = min;
    made.option.max = max;
    return made;
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
    auto made = row<member_path...>(name, OptionKind::choice, help);
    using Enum = std::remove_cvref_t<decltype(member<member_path...>(std::declval<Object<member_path...>&>()))>;
    made.option.choices = model::all_names<Enum>;
    return made;
}

}  // namespace rows
}  // namespace memsweep::scenarios
