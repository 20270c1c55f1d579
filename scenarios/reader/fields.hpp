// One object of a file, read by its option table: unknown and missing keys, types, bounds and names.
//
// Every read leaves its target alone when the key is absent or wrong, so that the model's own default stands.
//
// Errors   into Diagnostics, at the key or value that is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/reader/option_table.hpp"
#include "scenarios/reader/values.hpp"

namespace memsweep::scenarios {

class Fields {
  public:
    // `what` names the object in messages: "memory", "an alloc step".
    Fields(const Node& node, std::string what, const Reading& reading);

    // The object's keys must be in one of the tables, and their required keys there.
    void check(std::span<const OptionInfo> table, std::span<const OptionInfo> more = {});

    [[nodiscard]] bool is_object() const { return object_ != nullptr; }
    [[nodiscard]] const Node* raw(std::string_view key) const;  // null when absent
    [[nodiscard]] bool has(std::string_view key) const { return raw(key) != nullptr; }
    [[nodiscard]] const Place& place(std::string_view key) const;  // the value's, else the object's

    // Reads every key that is bound to a member, in the order of the rows.
    template <typename Object>
    void read(const OptionTable<Object>& table, Object& into) const
    {
        read(table.options(), &into);
    }
    void read(std::span<const OptionInfo> options, void* object) const;  // of the type that the rows are bound to

    // Reads a key of the checked tables that is bound to no member. True when it was read.
    template <typename Target>
    bool read(std::string_view key, Target& into) const
    {
        const auto read = value(option(key));
        if (read) {
            rows::assign(into, *read);
        }
        return read.has_value();
    }

    [[nodiscard]] std::optional<Value> value(const OptionInfo& option) const;  // empty: absent, or reported

    // Every member, for maps whose keys the user chooses.
    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (std::size_t i = 0; object_ != nullptr && i < object_->size() && !reading_.diagnostics.full(); ++i) {
            visit((*object_)[i]);
        }
    }

    void complain(const Place& place, std::string message) const;

  private:
    [[nodiscard]] const OptionInfo& option(std::string_view key) const;
    void check_key(const Member& member) const;

    const Node& node_;
    const Object* object_;
    std::string what_;
    Reading reading_;
    std::span<const OptionInfo> table_;
    std::span<const OptionInfo> more_;
};

}  // namespace memsweep::scenarios
