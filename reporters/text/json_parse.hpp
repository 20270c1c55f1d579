// Reads JSON text into one value. A JsonBuilder can take parts out of the value while the text is read.
//
// Errors   a JsonFailure that says where; no exception leaves this file.
// Cost     linear in the text. Nesting is not bounded here.
// Memory   the tree takes 40 bytes for each element, and 72 for each member with its key. Until the end of an object
//          has been read, each of its keys takes 72 bytes more. The bound most_held() keeps the tree below 200 MB for
//          any text of up to 10 MB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct JsonFailure {
    std::size_t byte{};   // the last byte that was read
    std::string message;  // empty: the text stops being JSON at `byte`
    bool is_too_large{};  // the tree exceeds the bound of the builder
};

// Returns the size of the largest tree allowed for a text, in elements; a member counts as three. A text of 2 bytes an
// element, such as [0,0,0,...], makes a tree of twenty times its size. memsweep's own texts have 5 bytes an element or
// more, and their most frequent parts are taken out of the tree.
[[nodiscard]] constexpr std::size_t most_held(std::size_t text_bytes)
{
    constexpr std::size_t of_any_text = 2'500'000;
    constexpr std::size_t least_bytes_each = 4;
    return std::max(of_any_text, text_bytes / least_bytes_each);
}

// Makes one value from the parts of a document, given in their order. Derived classes take out parts that must not be
// in memory as a tree. If several members have the same key, the last one counts.
class JsonBuilder {
  public:
    // `most`: the largest number of elements in the tree at any time; a member counts as three.
    explicit JsonBuilder(std::size_t most) : most_{most} {}
    JsonBuilder(const JsonBuilder&) = delete;
    JsonBuilder& operator=(const JsonBuilder&) = delete;
    virtual ~JsonBuilder() = default;

    void open(Json empty_container);  // an array or an object
    void close();
    void key(std::string name);
    void add(Json value);

    // True: the tree exceeds its bound, and the caller must add nothing more.
    [[nodiscard]] bool is_too_large() const { return held_ > most_; }
    [[nodiscard]] Json whole() { return std::move(whole_); }

  protected:
    struct Level {
        Json container;
        std::string key;                                      // the key of an object's next member
        bool is_repeated{};                                   // the object had this key before
        std::size_t index{};                                  // number of members or elements before the next one
        std::size_t held{};                                   // elements in the tree for this container
        std::unordered_map<std::string, std::size_t> places;  // index of each key that the object has so far
    };
    [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }  // the outermost first

  private:
    // Called with each complete value. True: the derived class has taken the value, so it is left out of the innermost
    // container.
    [[nodiscard]] virtual bool take(const Json& /*value*/) { return false; }
    virtual void meet_key() {}  // a key in the innermost container has been read

    std::size_t most_;
    std::size_t held_{};
    std::vector<Level> levels_;
    Json whole_;
};

// Reads a whole text into `builder`. Returns what went wrong; empty: nothing, and builder.whole() has the value.
[[nodiscard]] std::optional<JsonFailure> parse_json(std::string_view text, JsonBuilder& builder);

// Parses text that is part of the program.
[[nodiscard]] Json json_of(std::string_view text);

}  // namespace memsweep::reporters
