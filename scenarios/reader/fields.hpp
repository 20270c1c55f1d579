// Reads one object of a file by its option table (option_table.hpp). Reports unknown and missing keys, and wrong types,
// values and names.
//
// If a key is absent or wrong, a read leaves its target unchanged, so that the model's default remains.
//
// Errors   into Diagnostics, at the key or value that is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/model/scalar.hpp"
#include "scenarios/reader/option_table.hpp"
#include "scenarios/reader/source_tree.hpp"
#include "scenarios/reader/substitution.hpp"

namespace memsweep::scenarios {

// Where values come from, and where errors go.
struct Reading {
    const Scope& scope;
    Diagnostics& diagnostics;
};

// Reads a value of the option's kind, within the option's bounds. The result has the alternative of Value that belongs
// to this kind. Empty: a mistake was reported. Objects and lists of objects cannot be read in this way.
[[nodiscard]] std::optional<Value> read_value(const SourceNode& node, const OptionInfo& option, const Reading& reading);

// Returns the number in a device's name: 0 for "gpu0". Empty for any other text.
[[nodiscard]] std::optional<std::uint32_t> device_number(std::string_view name);

// Checks an object that was not read from a file. Returns how the object violates the bounds of `options`; empty if it
// does not.
[[nodiscard]] std::vector<std::string> out_of_bounds(std::span<const OptionInfo> options, const void* object);

// Reads a scalar that fits model::Scalar, for axes and variables; `what` names it in messages. Empty: a mistake was
// reported.
[[nodiscard]] std::optional<model::Scalar> read_scalar(const SourceNode& node, std::string_view what,
                                                       const Reading& reading);

// Reads a string and replaces its placeholders. If the string is a single placeholder with a number as its value,
// returns this number as text. Empty: a mistake was reported.
[[nodiscard]] std::optional<std::string> read_text(const SourceNode& node, std::string_view what,
                                                   const Reading& reading);

// Makes a node at `place` from the value.
[[nodiscard]] SourceNode node_of(const model::Scalar& value, const Place& place);

// Returns the value of an integer that is not negative; empty for any other value.
[[nodiscard]] std::optional<std::uint64_t> whole_number(const SourceNode& node);

class Fields {
  public:
    // `what` names the object in messages: "memory", "an alloc step".
    Fields(const SourceNode& node, std::string what, const Reading& reading);

    // Checks that each key of the object is in one of the tables, and that all required keys are there.
    void check(std::span<const OptionInfo> table, std::span<const OptionInfo> more = {});

    [[nodiscard]] bool is_object() const { return object_ != nullptr; }
    [[nodiscard]] const SourceNode* raw(std::string_view key) const;  // null: the key is absent
    // False if the object has a "format" other than this one; true also if it has none. A single message reports the
    // wrong format, instead of one message for each key.
    [[nodiscard]] bool has_format(std::string_view format) const;

    [[nodiscard]] bool has(std::string_view key) const { return raw(key) != nullptr; }
    // Returns the place of the value; if the key is absent, the place of the object.
    [[nodiscard]] const Place& place(std::string_view key) const;

    // Reads every key that the table binds to a member, in the order of the table's rows.
    template <typename Object>
    void read(const OptionTable<Object>& table, Object& into) const
    {
        read(table.options(), &into);
    }
    void read(std::span<const OptionInfo> options, void* object) const;  // `object` has the type of the rows

    // Reads a key that is in the tables of check() but is not bound to a member. True: it was read.
    template <typename Target>
    bool read(std::string_view key, Target& into) const
    {
        const auto read = value(option(key));
        if (read) {
            rows::assign(into, *read);
        }
        return read.has_value();
    }

    // Empty: the key is absent or null, or a mistake was reported.
    [[nodiscard]] std::optional<Value> value(const OptionInfo& option) const;

    // Calls `visit` with every member, for maps whose keys the user chooses.
    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (std::size_t i = 0; object_ != nullptr && i < object_->size() && !reading_.diagnostics.full(); ++i) {
            visit((*object_)[i]);
        }
    }

    void complain(const Place& place, std::string message) const;

  private:
    [[nodiscard]] const OptionInfo* find_option(std::string_view key) const;  // null: in none of the tables
    [[nodiscard]] const OptionInfo& option(std::string_view key) const;
    void check_key(const Member& member) const;

    const SourceNode& node_;
    const Object* object_;
    std::string what_;
    Reading reading_;
    std::array<std::span<const OptionInfo>, 2> tables_;
};

// Reads a whole object by its table. Messages name the object by `key`.
template <typename Object>
Fields read_object(const SourceNode& node, std::string_view key, const OptionTable<Object>& table,
                   const Reading& reading, Object& into)
{
    Fields fields{node, fmt::format("\"{}\"", key), reading};
    fields.check(table.options());
    fields.read(table, into);
    return fields;
}

// As above, for the object at `key` of `outer`; does nothing if the key is absent.
template <typename Object>
void read_object(const Fields& outer, std::string_view key, const OptionTable<Object>& table, const Reading& reading,
                 Object& into)
{
    if (const SourceNode* node = outer.raw(key)) {
        read_object(*node, key, table, reading, into);
    }
}

}  // namespace memsweep::scenarios
