// Reads plain data that Python has written with `pickle` (protocols 2 to 5), as a tree of values. Nothing is executed:
// a pickle that names a class or a function is an error.
//
// Memory   some 80 bytes per value, for at most as many values as LogText::may_hold() allows.
// Errors   invalid_input: the pickle has more than plain data, is damaged or cut off, or has more values than allowed.
//          `where` is the argument `name` of read_pickle().
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
    std::int64_t integer{};           // also of a boolean; only the low 64 bits of the number
    std::string_view text;            // also of bytes; points into the Pickle
    std::vector<PickleValue*> items;  // of a list or tuple; of a dict: key, value, key, value, ...

    [[nodiscard]] const PickleValue* get(std::string_view key) const;   // nullptr: no such key
    [[nodiscard]] std::int64_t integer_of(std::string_view key) const;  // 0: no such key
    [[nodiscard]] std::string_view text_of(std::string_view key) const;
    [[nodiscard]] const std::vector<PickleValue*>& items_of(std::string_view key) const;
};

struct Pickle {
    std::deque<PickleValue> values;
    std::deque<std::string> texts;
    const PickleValue* root{};
    // Returns how much memory the pickle takes, in "things" (bounds.hpp).
    [[nodiscard]] std::uint64_t held() const noexcept
    {
        return values.size() + texts.size() + text_bytes / bytes_of_a_thing;
    }
    std::uint64_t text_bytes{};
};

[[nodiscard]] base::Expected<Pickle> read_pickle(LogText& log, const std::string& name);

}  // namespace memsweep::trace
