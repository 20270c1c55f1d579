// A value inside a JSON document, together with its path. JsonNode reads documents strictly, and each of its messages
// has the path of the wrong value.
//
// Errors   The first problem of a document is kept in its Problem, as "cases[3].status: ...". After a problem, reads
//          return empty values, and loops over lists end. So a reader needs no check after every field.
// Ownership  A JsonNode refers to the document, to its Problem, and to its parent or to the text given as `place`. All
//            of these must outlive the JsonNode.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/model/names.hpp"
#include "core/model/scalar.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

using Problem = std::optional<std::string>;

class JsonNode {
  public:
    // `place`: the path of a value that was taken out of its document; empty: the value is the whole document.
    JsonNode(const Json& value, Problem& problem, std::string_view place = {})
        : value_{&value}, problem_{&problem}, key_{place}
    {
    }

    [[nodiscard]] JsonNode at(std::string_view key) const;  // a missing key is reported, and reads as null
    [[nodiscard]] bool has(std::string_view key) const;     // true also for a key whose value is null
    [[nodiscard]] bool is_null() const { return value_->is_null(); }

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string text_or_empty() const;  // null is read as empty
    [[nodiscard]] bool flag() const;
    [[nodiscard]] double number() const;  // null is read as NaN, which is written as null again
    [[nodiscard]] std::optional<double> optional_number() const;
    [[nodiscard]] std::optional<std::array<double, 2>> interval() const;
    [[nodiscard]] model::Scalar scalar() const;

    template <typename Integer>
    [[nodiscard]] Integer integer() const;
    template <typename Enum>
    [[nodiscard]] Enum named() const;

    template <typename Visit>  // visit(JsonNode)
    void for_each_element(Visit visit) const;
    template <typename Visit>  // visit(const std::string& key, JsonNode)
    void for_each_member(Visit visit) const;

    void report(std::string_view message) const;

  private:
    JsonNode(const Json& value, const JsonNode& parent, std::string_view key)
        : value_{&value}, problem_{parent.problem_}, parent_{&parent}, key_{key}
    {
    }
    JsonNode(const Json& value, const JsonNode& parent, std::size_t index)
        : value_{&value}, problem_{parent.problem_}, parent_{&parent}, index_{index}
    {
    }

    [[nodiscard]] std::string path() const;
    void report_type(std::string_view expected) const;

    const Json* value_;
    Problem* problem_;
    const JsonNode* parent_{};
    std::string_view key_;  // the key, if the value is a member; the path, if the value has no parent
    std::size_t index_{};   // the index, if the value is an element of an array
};

template <typename Integer>
Integer JsonNode::integer() const
{
    const std::uint64_t* positive = value_->unsigned_integer();
    if (positive != nullptr && std::in_range<Integer>(*positive)) {
        return static_cast<Integer>(*positive);
    }
    const std::int64_t* negative = value_->integer();  // parsed numbers are of this kind only if they have a minus sign
    if (std::numeric_limits<Integer>::is_signed && negative != nullptr && std::in_range<Integer>(*negative)) {
        return static_cast<Integer>(*negative);
    }
    report_type(fmt::format("a whole number from {} to {}", std::numeric_limits<Integer>::min(),
                            std::numeric_limits<Integer>::max()));
    return {};
}

template <typename Enum>
Enum JsonNode::named() const
{
    const std::string name = text();
    if (const auto value = model::value_of<Enum>(name)) {
        return *value;
    }
    report(fmt::format("unknown value \"{}\"{}", name, base::suggestion(name, model::all_names<Enum>())));
    return {};
}

template <typename Visit>
void JsonNode::for_each_element(Visit visit) const
{
    if (!value_->is_array()) {
        report_type("an array");
        return;
    }
    for (std::size_t i = 0; i < value_->size() && !*problem_; ++i) {
        visit(JsonNode{value_->elements()[i], *this, i});
    }
}

template <typename Visit>
void JsonNode::for_each_member(Visit visit) const
{
    if (!value_->is_object()) {
        report_type("an object");
        return;
    }
    for (const auto& [key, value] : value_->members()) {
        if (*problem_) {
            return;
        }
        visit(key, JsonNode{value, *this, std::string_view{key}});
    }
}

}  // namespace memsweep::reporters
