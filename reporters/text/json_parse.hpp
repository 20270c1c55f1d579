// Reads JSON text: as one value, or with parts taken out on the way.
//
// Errors   a JsonFailure with its place; no exception leaves this file.
// Cost     linear in the text. Nesting is not bounded here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct JsonFailure {
    std::size_t byte{};   // the last one that was read
    std::string message;  // empty: no JSON at `byte`
};

// Makes one value of the parts of a document, which come in their order. Who derives from it takes out what must not
// stand in memory as a tree.
class JsonBuilder {
  public:
    JsonBuilder() = default;
    JsonBuilder(const JsonBuilder&) = delete;
    JsonBuilder& operator=(const JsonBuilder&) = delete;
    virtual ~JsonBuilder() = default;

    void open(Json empty_container);  // an array or an object
    void close();
    void key(std::string name);
    void add(Json value);

    [[nodiscard]] Json whole() { return std::move(whole_); }

  protected:
    struct Level {
        Json container;
        std::string key;      // of an object: the member that comes next
        std::size_t index{};  // how many members or elements came before it
    };
    [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }  // the outermost first

  private:
    // True: the value, which is complete, is left out of the innermost container.
    [[nodiscard]] virtual bool take(const Json& /*value*/) { return false; }
    virtual void meet_key() {}  // of the innermost container

    std::vector<Level> levels_;
    Json whole_;
};

[[nodiscard]] std::optional<JsonFailure> parse_json(std::string_view text, JsonBuilder& builder);

// Of text that is part of the program.
[[nodiscard]] Json json_of(std::string_view text);

}  // namespace memsweep::reporters
