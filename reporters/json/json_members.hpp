// Reads and writes the parts of a document. Each part has one list of its members with their keys; the same list serves
// for reading and for writing.
//
// Errors   of reading: the first problem is kept, see json_node.hpp; of writing: none.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/measure/verdict.hpp"
#include "core/model/report.hpp"
#include "reporters/json/json_node.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json json_params(const std::vector<model::Param>& params);

template <typename Items, typename Part>  // `part`: a function of an item, or a pointer to a member of it
[[nodiscard]] Json json_list(const Items& items, Part part)
{
    Json json = Json::array();
    for (const auto& item : items) {
        json.push_back(std::invoke(part, item));
    }
    return json;
}

template <typename Texts>  // pairs of a name and a text
[[nodiscard]] Json json_texts_by_name(const Texts& texts)
{
    Json json = Json::object();
    for (const auto& [name, text] : texts) {
        json[repaired_utf8(name)] = text;
    }
    return json;
}

// Each part has a function members(io, part), which calls io(key, member, rule) for each member, in the order of the
// document. `io` is a MemberWriter or a MemberReader.

// How a member of a document differs from usual ones. A usual member is always present, and always has a value of its
// own type.
struct MemberRule {
    bool is_null_if_empty{};  // an empty text is written as null
    bool may_be_null{};       // null is read as an empty text
    bool may_be_missing{};    // if it is missing, as in files of earlier versions, its target keeps its value
    bool is_left_out{};       // an empty member is not written
};
namespace member {
inline constexpr MemberRule nullable{.is_null_if_empty = true, .may_be_null = true};
inline constexpr MemberRule added{.may_be_null = true, .may_be_missing = true};
inline constexpr MemberRule added_nullable{.is_null_if_empty = true, .may_be_null = true, .may_be_missing = true};
inline constexpr MemberRule left_out{.may_be_missing = true, .is_left_out = true};
}  // namespace member

template <typename Io, typename Part>  // the type of the part that members() gets: const if `io` writes it
using PartOf = std::conditional_t<Io::is_reading, Part, const Part>;

template <typename Value>
inline constexpr bool is_optional_v = false;
template <typename Value>
inline constexpr bool is_optional_v<std::optional<Value>> = true;
template <typename Value>
inline constexpr bool is_list_v = false;
template <typename Value>
inline constexpr bool is_list_v<std::vector<Value>> = true;
template <typename Value>
inline constexpr bool is_texts_by_name_v =
    std::same_as<Value, std::map<std::string, std::string>> || std::same_as<Value, model::Variables>;

template <typename Value>
[[nodiscard]] Json json_value(const Value& value, MemberRule rule = {});

class MemberWriter {
  public:
    static constexpr bool is_reading = false;

    template <typename Value>
    void operator()(std::string_view key, const Value& value, MemberRule rule = {})
    {
        if constexpr (is_optional_v<Value>) {
            if (rule.is_left_out && !value) {
                return;
            }
        } else if constexpr (is_list_v<Value>) {
            if (rule.is_left_out && value.empty()) {
                return;
            }
        }
        put(key, json_value(value, rule));
    }
    template <typename Value, typename Default>
    void with_default(std::string_view key, const Value& value, Default /*of reading*/)
    {
        (*this)(key, value);
    }
    template <typename Members>  // members(io) of a nested object
    void object(std::string_view key, Members members)
    {
        MemberWriter inner;
        members(inner);
        put(key, inner.take());
    }
    template <typename Value>  // values that a reader takes out of the document before members() runs
    void taken_out(std::string_view key, const std::vector<Value>& values)
    {
        (*this)(key, values);
    }
    void put(std::string_view key, Json value) { json_.members().push_back({std::string{key}, std::move(value)}); }

    [[nodiscard]] Json take() { return std::move(json_); }

  private:
    Json json_ = Json::object();
};

class MemberReader {
  public:
    static constexpr bool is_reading = true;

    explicit MemberReader(const JsonNode& node) : node_{&node} {}

    template <typename Value>
    void operator()(std::string_view key, Value& value, MemberRule rule = {}) const
    {
        if (!rule.may_be_missing || node_->has(key)) {
            read(node_->at(key), value, rule);
        }
    }
    template <typename Value, typename Default>  // default_value() is used if the key is missing
    void with_default(std::string_view key, Value& value, Default default_value) const
    {
        if (node_->has(key)) {
            read(node_->at(key), value, {});
        } else {
            value = default_value();
        }
    }
    template <typename Members>
    void object(std::string_view key, Members members) const
    {
        const JsonNode inner = node_->at(key);
        MemberReader reader{inner};
        members(reader);
    }
    template <typename Value>  // the document's list is empty: its values were taken out before
    void taken_out(std::string_view key, const std::vector<Value>& /*filled before*/) const
    {
        node_->at(key).for_each_element([](const JsonNode& /*element*/) {});
    }
    [[nodiscard]] const JsonNode& node() const { return *node_; }

    template <typename Value>
    static void read(const JsonNode& node, Value& value, MemberRule rule);

  private:
    template <typename Value>
    static void read_optional(const JsonNode& node, std::optional<Value>& value, MemberRule rule);

    const JsonNode* node_;
};

template <typename Value>
[[nodiscard]] Value read_value(const JsonNode& node)
{
    Value value{};
    MemberReader::read(node, value, {});
    return value;
}

template <typename Value>
Json json_value(const Value& value, MemberRule rule)
{
    if constexpr (std::same_as<Value, std::string>) {
        return rule.is_null_if_empty ? json_text_or_null(value) : Json(value);
    } else if constexpr (std::same_as<Value, std::vector<model::Param>>) {
        return json_params(value);
    } else if constexpr (is_texts_by_name_v<Value>) {
        return json_texts_by_name(value);
    } else if constexpr (is_optional_v<Value>) {
        return value ? json_value(*value) : Json();
    } else if constexpr (is_list_v<Value>) {
        return json_list(value, [](const auto& item) { return json_value(item); });
    } else if constexpr (std::constructible_from<Json, const Value&>) {
        return value;
    } else {
        MemberWriter writer;
        members(writer, value);
        return writer.take();
    }
}

template <typename Value>
void MemberReader::read_optional(const JsonNode& node, std::optional<Value>& value, MemberRule rule)
{
    const bool has_value = !node.is_null() || (std::is_class_v<Value> && rule.is_left_out);  // a part is never null
    value = has_value ? std::optional{read_value<Value>(node)} : std::nullopt;
}

template <typename Value>
void MemberReader::read(const JsonNode& node, Value& value, MemberRule rule)
{
    if constexpr (std::same_as<Value, std::string>) {
        value = rule.may_be_null ? node.text_or_empty() : node.text();
    } else if constexpr (std::same_as<Value, bool>) {
        value = node.flag();
    } else if constexpr (std::same_as<Value, double>) {
        value = node.number();
    } else if constexpr (std::integral<Value>) {
        value = node.integer<Value>();
    } else if constexpr (std::is_enum_v<Value>) {
        value = node.named<Value>();
    } else if constexpr (std::same_as<Value, std::vector<model::Param>>) {
        value.clear();
        node.for_each_member([&](const std::string& name, const JsonNode& param) {
            value.push_back({name, param.scalar()});
        });
    } else if constexpr (is_texts_by_name_v<Value>) {
        node.for_each_member([&](const std::string& name, const JsonNode& text) {
            value.insert(value.end(), typename Value::value_type{name, text.text()});
        });
    } else if constexpr (std::same_as<Value, std::optional<std::array<double, 2>>>) {
        value = node.interval();
    } else if constexpr (is_optional_v<Value>) {
        read_optional(node, value, rule);
    } else if constexpr (is_list_v<Value>) {
        value.clear();
        node.for_each_element(
            [&](const JsonNode& item) { value.push_back(read_value<typename Value::value_type>(item)); });
    } else {
        MemberReader reader{node};
        members(reader, value);
    }
}

}  // namespace memsweep::reporters
