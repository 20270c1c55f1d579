// Reads JSON text: as a sequence of events, or as one value.
//
// Errors   a JsonFailure with its place; no exception leaves this file.
// Cost     linear in the text. Nesting is not bounded here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct JsonFailure {
    std::size_t byte{};   // the last one that was read
    std::string message;  // empty: no JSON at `byte`
};

// Takes the parts of a document in their order.
class JsonEvents {
  public:
    JsonEvents() = default;
    JsonEvents(const JsonEvents&) = delete;
    JsonEvents& operator=(const JsonEvents&) = delete;
    virtual ~JsonEvents() = default;

    virtual void open(Json empty_container) = 0;  // an array or an object
    virtual void close() = 0;
    virtual void key(std::string name) = 0;
    virtual void value(Json plain) = 0;  // neither an array nor an object
};

[[nodiscard]] std::optional<JsonFailure> parse_json(std::string_view text, JsonEvents& events);

// Of text that is part of the program.
[[nodiscard]] Json json_of(std::string_view text);

}  // namespace memsweep::reporters
