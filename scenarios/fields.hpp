// Reads one object of a scenario by its option table: unknown and missing keys, types, bounds and names.
//
// Every read leaves its target alone when the key is absent or wrong, so that the model's own default stands.
// Errors   into Diagnostics, at the key or value that is wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/names.hpp"
#include "scenarios/document.hpp"
#include "scenarios/options.hpp"
#include "scenarios/substitution.hpp"

namespace memsweep::scenarios {

// Where values come from and where complaints go.
struct Reading {
    const Scope& scope;
    Diagnostics& diagnostics;
};

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

    void read(std::string_view key, std::uint64_t& into) const;  // size or integer, as the table says
    void read(std::string_view key, std::uint32_t& into) const;
    void read(std::string_view key, std::chrono::nanoseconds& into) const;
    void read(std::string_view key, double& into) const;  // number
    void read(std::string_view key, bool& into) const;
    bool read(std::string_view key, std::string& into) const;                 // name or text; true when it was read
    void read(std::string_view key, std::vector<std::uint64_t>& into) const;  // shape
    void read(std::string_view key, std::vector<std::string>& into) const;    // choices

    template <typename Enum>
    void read_choice(std::string_view key, Enum& into) const
    {
        if (const auto name = choice(key)) {
            into = model::value_of<Enum>(*name).value_or(into);
        }
    }

    // The name itself, where it stands for no enumerator; true when it was read.
    bool read_choice(std::string_view key, std::string& into) const
    {
        auto name = choice(key);
        if (name) {
            into = std::move(*name);
        }
        return name.has_value();
    }

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
    [[nodiscard]] std::optional<std::string> choice(std::string_view key) const;
    void check_key(const Member& member) const;

    const Node& node_;
    const Object* object_;
    std::string what_;
    Reading reading_;
    std::span<const OptionInfo> table_;
    std::span<const OptionInfo> more_;
};

}  // namespace memsweep::scenarios
