// Pickled plain data (protocol 2 to 5) as a tree of values. Nothing is executed: whatever names a class or a function
// is refused.
//
// Memory   some 24 bytes a value; lists of stack frames, which make most of a PyTorch snapshot, are read and dropped.
// Errors   invalid_input: not a plain snapshot, damaged, or cut off; `where` is the name given.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/import/log_text.hpp"

namespace memsweep::trace {

struct PickleValue {
    enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dict };
    Kind kind{};
    std::int64_t integer{};           // booleans too; beyond 64 bits it is cut to them
    std::string text;                 // bytes too
    std::vector<PickleValue*> items;  // of a list or tuple; of a dict keys and values in turn

    [[nodiscard]] const PickleValue* get(std::string_view key) const;   // nullptr where there is none
    [[nodiscard]] std::int64_t integer_of(std::string_view key) const;  // 0 where there is none
    [[nodiscard]] std::string_view text_of(std::string_view key) const;
    [[nodiscard]] const std::vector<PickleValue*>& items_of(std::string_view key) const;
};

struct Pickle {
    std::deque<PickleValue> values;
    const PickleValue* root{};
};

[[nodiscard]] base::Expected<Pickle> read_pickle(LogText& log, const std::string& name);

}  // namespace memsweep::trace
