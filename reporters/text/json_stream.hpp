// Writes a long JSON document part by part, in the very bytes that pretty() would write of it as a whole.
//
// Memory   the part that is being added.
#pragma once

#include <string_view>
#include <vector>

#include "reporters/text/json.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

class JsonStream {
  public:
    explicit JsonStream(TextSink& sink) : sink_{&sink} {}

    void open_object() { open('{', false); }
    void open_list() { open('[', true); }
    void close();

    void key(std::string_view key);  // what is opened or added next is its value
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
    if (items.empty()) {
        add(Json::array());
        return;
    }
    open_list();
    for (const auto& item : items) {
        add(part(item));
    }
    close();
}

}  // namespace memsweep::reporters
