// Reads pickled plain data (protocol 2 to 5) as a tree of values. Nothing is executed: a pickle that names a class or a
// function is refused.
//
// Memory   some 80 bytes a value, as many as LogText::may_hold() says.
// Errors   invalid_input: the pickle is no plain snapshot, is damaged or cut off, or holds too much. `where` is the
//          name given.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/bounds.hpp"
#include "core/trace/import/log_text.hpp"

namespace memsweep::trace {

struct PickleValue {
    enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dict };
    Kind kind{};
    std::int64_t integer{};           // booleans too; beyond 64 bits it is cut to them
    std::string_view text;            // bytes too; lies in the pickle
    std::vector<PickleValue*> items;  // a list's or tuple's; a dict's keys and values in turn

    [[nodiscard]] const PickleValue* get(std::string_view key) const;   // nullptr where there is none
    [[nodiscard]] std::int64_t integer_of(std::string_view key) const;  // 0 where there is none
    [[nodiscard]] std::string_view text_of(std::string_view key) const;
    [[nodiscard]] const std::vector<PickleValue*>& items_of(std::string_view key) const;
};

struct Pickle {
    std::deque<PickleValue> values;
    std::deque<std::string> texts;
    const PickleValue* root{};
    // Things, as bounds.hpp counts them.
    [[nodiscard]] std::uint64_t held() const noexcept
    {
        return values.size() + texts.size() + text_bytes / bytes_of_a_thing;
    }
    std::uint64_t text_bytes{};
};

[[nodiscard]] base::Expected<Pickle> read_pickle(LogText& log, const std::string& name);

}  // namespace memsweep::trace
