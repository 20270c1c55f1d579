// Builds the tree of document.hpp from nlohmann's SAX events. The method names are the library's.
//
// Cost     a stack of its own instead of recursion, so that depth is limited before anything recurses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "scenarios/document.hpp"
#include "scenarios/locator.hpp"

namespace memsweep::scenarios {

class DocumentBuilder {
  public:
    using json = nlohmann::json;  // NOLINT(readability-identifier-naming): the name nlohmann's SAX interface asks for

    DocumentBuilder(const Place& start, std::string_view text, Diagnostics& diagnostics);

    bool null();
    bool boolean(bool value);
    bool number_integer(json::number_integer_t value);
    bool number_unsigned(json::number_unsigned_t value);
    bool number_float(json::number_float_t value, const std::string& text);
    bool string(std::string& value);
    bool binary(json::binary_t& value);
    bool start_object(std::size_t size);
    bool key(std::string& name);
    bool end_object();
    bool start_array(std::size_t size);
    bool end_array();
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error);

    // The finished tree; empty after an error that leaves a value unusable.
    [[nodiscard]] std::optional<Node> take();

  private:
    struct Frame {
        Node node;
        std::map<std::string, std::uint32_t> lines;  // of an object's keys, to find duplicates
        std::string key;                             // the member being read
        Place key_place;
        bool skip{};  // the member's key is free (x-) or a repetition: its value is dropped
    };

    Place next_place();
    [[nodiscard]] Place place_of(const Token& token) const;
    bool leaf(decltype(Node::value) value);
    bool open(decltype(Node::value) empty);
    bool close();
    void attach(Node node);
    bool count_value(const Place& place);

    Place start_;
    std::string_view text_;
    Diagnostics& diagnostics_;
    Locator locator_;
    std::vector<Frame> stack_;
    std::optional<Node> root_;
    std::size_t values_{};
    bool unusable_{};
};

}  // namespace memsweep::scenarios
