// Every key a scenario may hold: its type, default, bounds and meaning, one table per kind of object.
//
// The loader reads by these tables, error texts quote them, `memsweep list` prints them, and tests hold
// docs/scenario-format.md and the JSON Schema to them.
// Units    bounds are bytes for sizes, nanoseconds for durations, plain counts for integers and list lengths.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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
    shape,     // a list of extents
    object,    // an object with its own table, or a map
    list,      // a list of objects
};

struct OptionInfo {
    std::string_view name;
    OptionKind kind{};
    bool required{};
    std::string_view default_text;  // as written in a file, less the quotes; empty: no default
    std::uint64_t min{};            // of size, duration, integer, number; of each extent of a shape
    std::uint64_t max{};
    std::vector<std::string_view> (*choices)(){};  // of choice and choices
    std::string_view help;
};

[[nodiscard]] std::string_view kind_name(OptionKind kind);  // "size", "duration", "integer", ...
[[nodiscard]] std::string_view
unit_of(OptionKind kind);  // of min, max: "B", "ns", "1"; empty where there are no bounds
[[nodiscard]] bool has_bounds(OptionKind kind);
[[nodiscard]] std::string format_bound(OptionKind kind,
                                       std::uint64_t bound);   // as a file would say it: "8KiB", "24h", "1,000"
[[nodiscard]] std::string accepted(const OptionInfo& option);  // "an integer from 1 to 1,000,000,000", for messages

[[nodiscard]] std::span<const OptionInfo> scenario_options();  // the top level of a scenario
[[nodiscard]] std::span<const OptionInfo> settings_options();  // the top level of an included file
[[nodiscard]] std::span<const OptionInfo> requires_options();
[[nodiscard]] std::span<const OptionInfo> axis_range_options();
[[nodiscard]] std::span<const OptionInfo> memory_options();
[[nodiscard]] std::span<const OptionInfo> numa_options();
[[nodiscard]] std::span<const OptionInfo> pool_options();
[[nodiscard]] std::span<const OptionInfo> memory_trim_options();
[[nodiscard]] std::span<const OptionInfo> release_options();
[[nodiscard]] std::span<const OptionInfo> safety_options();
[[nodiscard]] std::span<const OptionInfo> allocators_options();  // an object of settings for each of these:
[[nodiscard]] std::span<const OptionInfo> allocator_options(std::string_view allocator);  // empty when it has none
[[nodiscard]] std::span<const OptionInfo> profile_options();  // the top level of a runtime profile
[[nodiscard]] std::span<const OptionInfo> series_options();
[[nodiscard]] std::span<const OptionInfo> assert_options();
[[nodiscard]] std::span<const OptionInfo> transfer_options();  // each of the transfers of a step
[[nodiscard]] std::span<const OptionInfo> step_options();      // what every step may carry
[[nodiscard]] std::span<const OptionInfo>
operation_options(std::string_view op);  // its own keys; empty when it has none

// All of the above by name, in the order of the documentation: "scenario", "memory", "release", "step",
// "step: alloc", ...
struct OptionSection {
    std::string name;
    std::string_view meaning;
    std::span<const OptionInfo> options;
};
[[nodiscard]] std::vector<OptionSection> option_sections();

}  // namespace memsweep::scenarios
