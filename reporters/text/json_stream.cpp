#include "reporters/text/json_stream.hpp"

#include <fmt/format.h>

namespace memsweep::reporters {

void JsonStream::begin_item()
{
    Level& level = levels_.back();
    sink_->print("{}\n{:{}}", level.is_empty ? "" : ",", "", levels_.size());
    level.is_empty = false;
}

void JsonStream::open(char bracket, bool is_list)
{
    if (!levels_.empty() && levels_.back().is_list) {
        begin_item();
    }
    sink_->print("{}", bracket);
    levels_.push_back({.is_list = is_list});
}

void JsonStream::close()
{
    const bool is_list = levels_.back().is_list;
    levels_.pop_back();
    sink_->print("\n{:{}}{}", "", levels_.size(), is_list ? ']' : '}');
}

void JsonStream::key(std::string_view key)
{
    begin_item();
    sink_->print("{}: ", compact(json_text(key)));
}

void JsonStream::add(const Json& value)
{
    const bool is_row = levels_.back().is_list;
    if (is_row) {
        begin_item();
    }
    sink_->add(pretty(value, {.depth = levels_.size(), .is_row = is_row}));
}

void JsonStream::add(std::string_view key_text, const Json& value)
{
    key(key_text);
    add(value);
}

}  // namespace memsweep::reporters
