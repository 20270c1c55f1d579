// What one key of an object in a file may hold, and where its value goes: one row per key.
//
// Reading, the error texts, the canonical form, the JSON Schema, `memsweep list` and the tables of
// docs/scenario-format.md all follow from these rows. option_table.hpp makes them.
//
// Units    bounds are bytes for sizes, nanoseconds for durations, plain counts for integers and list lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace memsweep::scenarios {

enum class OptionKind : std::uint8_t {
    size,      // "4KiB", or a bare number of bytes
    duration,  // "5ms", never bare
    integer,   // a whole number
    number,    // a decimal number
    boolean,   // true or false
    choice,    // one of a table of names
    choices,   // a list of such names
    name,      // ^[a-z][a-z0-9_]*$
    text,      // any string
    texts,     // a string or a list of strings
    device,    // "gpu0"
    shape,     // a list of extents
    object,    // an object with its own table, or a map
    list,      // a list of objects
};

// A value as it stands in a file, with its unit resolved: bytes, nanoseconds, the number of a device. Empty: there is
// none, or no default.
using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>,
                           std::vector<std::string>>;

// The member that a key is bound to. The pointers are to an object of the table's type; OptionTable hands them out.
struct Binding {
    Value (*get)(const void* object){};               // null: the key is bound to no member
    void (*set)(void* object, const Value& value){};  // null: the reader takes the key by itself
};

// How a key counts in the canonical form that fingerprints are taken of.
struct Canonical {
    enum class Form : std::uint8_t {
        unless_default,  // by name, where it differs from the default: a new key changes no fingerprint of before
        always,          // by name
        listed,          // in a list, by its position among the rows of that list
        left_out,
    };
    Form form{Form::unless_default};
    std::string_view name;                 // of the member, or of the list as a JSON pointer; empty: the key's
    std::optional<std::size_t> position;   // in the list, where it is not the next one
    bool (*counts)(const void* object){};  // null: it always does
    Value (*get)(const void* object){};    // null: the binding's
};

struct OptionInfo {
    std::string_view name;
    OptionKind kind{};
    std::string_view help;
    bool required{};
    bool nullable{};      // null says that there is none
    bool uses_arrays{};   // names arrays that earlier steps have made
    std::uint64_t min{};  // of size, duration, integer, number; of each extent of a shape
    std::uint64_t max{};
    std::vector<std::string_view> (*choices)(){};  // of choice and choices
    std::string default_text;                      // as written in a file, less the quotes; empty: no default
    Binding binding;
    Canonical canonical;
};

[[nodiscard]] std::string_view kind_name(OptionKind kind);  // "size", "duration", "integer", ...
[[nodiscard]] std::string_view
unit_of(OptionKind kind);  // of min, max: "B", "ns", "1"; empty where there are no bounds
[[nodiscard]] bool has_bounds(OptionKind kind);
[[nodiscard]] std::string format_bound(OptionKind kind,
                                       std::uint64_t bound);   // as a file would say it: "8KiB", "24h", "1,000"
[[nodiscard]] std::string accepted(const OptionInfo& option);  // "an integer from 1 to 1,000,000,000", for messages

// A default as a file would say it, less the quotes: "256MiB", "60s", "0.5"; empty for none.
[[nodiscard]] std::string format_default(OptionKind kind, const Value& value);

}  // namespace memsweep::scenarios
