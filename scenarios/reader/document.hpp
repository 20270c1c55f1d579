// A JSON text as a tree in which every value knows its place; nothing is converted, and only what the format leaves
// free (keys starting "x-") is left out.
//
// Sources  nlohmann/json's SAX parser; comments // and /* */ are accepted, trailing commas are not.
// Errors   into Diagnostics: syntax, bytes that are not UTF-8, duplicate keys, integers beyond 64 bits, and the limits
//          of limits.hpp (file size, depth, number of values).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/reader/diagnostics.hpp"

namespace memsweep::scenarios {

struct Node;
struct Member;
using List = std::vector<Node>;
using Object = std::vector<Member>;  // in the order of the file, each key once

struct Node {
    Place place;
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object> value;

    template <typename T>
    [[nodiscard]] const T* as() const
    {
        return std::get_if<T>(&value);
    }
};

struct Member {
    std::string key;
    Place key_place;
    Node value;
};

// Null when `object` has no such key.
[[nodiscard]] const Node* find(const Object& object, std::string_view key);

// "an object", "the string \"8M\"", "the number -1": the end of "must be ..., not ...".
[[nodiscard]] std::string describe(const Node& node);

// Empty when the text is too broken to look further; a duplicate key alone is not. `start` is the file's number and
// name.
[[nodiscard]] std::optional<Node> parse_document(const Place& start, std::string_view text, Diagnostics& diagnostics);

}  // namespace memsweep::scenarios
