// JSON values and their text. Every writer of JSON makes small parts from these values. JsonStream writes a long
// document part by part.
//
// The type is memsweep's own, because nlohmann/json takes ten seconds to compile in every file that includes it. In
// reporters/ only json_parse.cpp includes it.
//
// Errors   none: a number that is not finite becomes null, and so does an absent value. Text is repaired to UTF-8 when
//          it is written.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/names.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

struct JsonMember;

class Json {
  public:
    class Item;
    enum class Kind { null, boolean, integer, unsigned_integer, real, text, array, object };

    // All constructors are defined below JsonMember, because that type must be complete where a Json is made.
    Json();
    Json(std::nullptr_t);
    Json(bool value);
    template <std::integral Integer>
    Json(Integer value);
    Json(double value);
    Json(const char* text);
    Json(std::string_view text);
    Json(std::string text);
    template <typename Enum>
        requires std::is_enum_v<Enum>
    Json(Enum value);  // the value's name in the model's tables
    template <typename Value>
    Json(const std::optional<Value>& value);
    template <std::ranges::input_range Values>
        requires(!std::convertible_to<const Values&, std::string_view>)
    Json(const Values& values);
    // Makes an object if every item is a pair that begins with a text: {{"key", value}, ...}. Otherwise makes an array;
    // without items, null.
    Json(std::initializer_list<Item> items);

    [[nodiscard]] static Json array(std::initializer_list<Item> items = {});
    [[nodiscard]] static Json object();

    [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }
    [[nodiscard]] bool is_null() const { return kind() == Kind::null; }
    [[nodiscard]] bool is_array() const { return kind() == Kind::array; }
    [[nodiscard]] bool is_object() const { return kind() == Kind::object; }
    [[nodiscard]] bool is_number() const { return kind() >= Kind::integer && kind() <= Kind::real; }
    [[nodiscard]] std::string_view kind_name() const;  // "null", "boolean", "number", "string", "array" or "object"

    // Each returns nullptr if the value is of another kind.
    [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&value_); }
    [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value_); }
    [[nodiscard]] const std::uint64_t* unsigned_integer() const { return std::get_if<std::uint64_t>(&value_); }
    [[nodiscard]] const double* real() const { return std::get_if<double>(&value_); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value_); }
    [[nodiscard]] std::optional<double> number() const;  // any of the three kinds of numbers

    // An array has elements(), an object has members(). If the value is of another kind, the const functions return an
    // empty list. The others turn null into an array or object, and throw for all other kinds. Members keep the order
    // of their insertion.
    [[nodiscard]] const std::vector<Json>& elements() const;
    [[nodiscard]] std::vector<Json>& elements();
    [[nodiscard]] const std::vector<JsonMember>& members() const;
    [[nodiscard]] std::vector<JsonMember>& members();
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }

    [[nodiscard]] const Json* find(std::string_view key) const;  // nullptr: no member has this key
    [[nodiscard]] Json* find(std::string_view key);
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

    Json& operator[](std::string_view key);  // a missing member is added; null becomes an object
    Json& operator[](std::size_t index) { return elements()[index]; }
    void push_back(Json value);       // null becomes an array
    void update(const Json& object);  // replaces members of the same key, and adds all other members

  private:
    using Elements = std::vector<Json>;
    using Members = std::vector<JsonMember>;

    // The alternatives are in the order of Kind.
    std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Elements, Members> value_;
};

struct JsonMember {
    std::string key;
    Json value;
};

template <std::integral Integer>
Json::Json(Integer value)
    : value_{static_cast<std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>>(value)}
{
}

template <typename Enum>
    requires std::is_enum_v<Enum>
Json::Json(Enum value) : Json(model::name_of(value))  // braces would make a list
{
}

template <typename Value>
Json::Json(const std::optional<Value>& value)
{
    if (value) {
        *this = Json(*value);
    }
}

template <std::ranges::input_range Values>
    requires(!std::convertible_to<const Values&, std::string_view>)
Json::Json(const Values& values) : value_{Elements(std::ranges::begin(values), std::ranges::end(values))}
{
}

// An item of a list in braces. Its value can be moved out of the list. The value is made in parentheses, because braces
// would make a list.
class Json::Item {
  public:
    template <typename Value>
        requires(std::constructible_from<Json, Value &&> && !std::same_as<std::remove_cvref_t<Value>, Item>)
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): an Item is excluded
    Item(Value&& value) : value_(Json(std::forward<Value>(value)))
    {
    }
    Item(std::initializer_list<Item> items) : value_(Json(items)) {}

  private:
    friend class Json;
    mutable Json value_;
};

[[nodiscard]] Json json_text_or_null(std::string_view text);  // null for empty text

// Returns the text on one line, without a line break at its end.
[[nodiscard]] std::string compact(const Json& json);

// pretty() returns the text on several lines, indented by one blank per level. An array of plain values is on one line,
// however long. So is an object of plain values, if it is short or an element of an array. An array of at most two
// plain values, such as an interval, also counts as plain here.
struct PrettyPlace {
    std::size_t depth{};  // brackets that are open around the value
    bool is_row{};        // the value is an element of an array
};
[[nodiscard]] std::string pretty(const Json& json, PrettyPlace place = {});

// Returns one line for every value, indented by two blanks per level. A whole double keeps its decimal point: "1.0".
[[nodiscard]] std::string indented(const Json& json);

// Writes a long JSON document part by part. The bytes are exactly those that pretty() would write for the whole
// document.
//
// Memory   the part that is being added.

class JsonStream {
  public:
    explicit JsonStream(TextSink& sink) : sink_{&sink} {}

    void open_object() { open('{', false); }
    void open_list() { open('[', true); }
    void close();

    void key(std::string_view key);  // the key of the next value that is opened or added
    void add(const Json& value);     // to a list, or behind a key
    void add(std::string_view key_text, const Json& value);

    template <typename Items, typename Part>  // part(item) -> Json, one at a time
    void add_list(std::string_view key_text, const Items& items, Part part);

  private:
    struct Level {
        bool is_list{};
        bool is_empty{true};
    };
    void open(char bracket, bool is_list);
    void begin_item();

    TextSink* sink_;
    std::vector<Level> levels_;
};

template <typename Items, typename Part>
void JsonStream::add_list(std::string_view key_text, const Items& items, Part part)
{
    key(key_text);
    open_list();
    for (const auto& item : items) {
        add(part(item));
    }
    close();
}

}  // namespace memsweep::reporters
