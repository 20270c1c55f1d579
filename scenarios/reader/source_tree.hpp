// A JSON text as a tree in which every value has its Place (file, line and column). Nothing is converted. Only keys
// that the format leaves to users (those starting with "x-") are left out.
//
// Sources  nlohmann/json's SAX parser; comments // and /* */ are accepted, trailing commas are not.
// Errors   into Diagnostics: syntax, bytes that are not UTF-8, duplicate keys, integers beyond 64 bits, and the limits
//          of limits.hpp (file size, depth, number of values).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/reader/diagnostics.hpp"

namespace memsweep::scenarios {

struct SourceNode;
struct Member;
using List = std::vector<SourceNode>;
using Object = std::vector<Member>;  // in the order of the file, each key once

struct SourceNode {
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
    SourceNode value;
};

// Null: `object` does not have this key.
[[nodiscard]] const SourceNode* find(const Object& object, std::string_view key);

// Describes a value for the end of the message "must be ..., not ...": "an object", "the string \"8M\"", "the number
// -1".
[[nodiscard]] std::string describe(const SourceNode& node);

// Empty: the text is too broken to go on. If the only mistakes are duplicate keys, they are reported, and the tree is
// still made. `start`: the file's number and name.
[[nodiscard]] std::optional<SourceNode> parse_source(const Place& start, std::string_view text,
                                                     Diagnostics& diagnostics);

// Owns the files of one load: their names and trees. Names and trees do not move when files are added, because places
// and pointers to nodes refer to them.
class Sources {
  public:
    explicit Sources(Diagnostics& diagnostics) : diagnostics_{diagnostics} {}

    // Null: the text is too broken to go on.
    const SourceNode* add(const std::string& name, std::string_view text);

    // Makes a Place that stands for a command-line flag.
    Place flag(std::string text);

    [[nodiscard]] std::size_t files() const { return files_; }

  private:
    Diagnostics& diagnostics_;
    std::deque<std::string> names_;
    std::deque<SourceNode> roots_;
    std::uint32_t files_{};
};

}  // namespace memsweep::scenarios
