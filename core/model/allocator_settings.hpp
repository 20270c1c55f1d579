// The table of allocator settings: the name of each setting, the environment variable that sets it, and its bounds.
// Also the settings that are worth trying on a program, the most promising first, and the conditions for trying them.
//
// Units    sizes in bytes, durations in nanoseconds. In environment variables: the units that the allocator expects.
// Sources  glibc: "Memory Allocation Tunables" of its manual, 2.26 to 2.42 (`ld.so --list-tunables` lists those of this
//          machine); jemalloc(3) 5.2 and 5.3 ("TUNING"); mimalloc's readme, "Environment Options", 1.7 to 2.1;
//          gperftools' docs/tcmalloc.html, 2.10.
// Threads  any: the tables are constant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/allocator.hpp"

namespace memsweep::model {

enum class SettingKind : std::uint8_t {
    integer,
    size,
    mebibytes,  // a size, written to its variable in whole MiB
    duration,   // written to its variable in milliseconds
    toggle,
    word,
};

struct AllocatorSetting {
    std::string_view name;    // in scenarios; never contains a unit
    std::string_view target;  // the option's name in SettingStyle::variable; if that is empty, the variable's name
    SettingKind kind{};
    std::uint64_t min{};
    std::uint64_t max{};
    std::string_view help;
    std::span<const std::string_view> words{};  // the valid values of kind `word`
    bool is_raw{};                              // not allowed in scenarios: only old versions of the allocator read it
};

// How an allocator's settings are written into the environment.
struct SettingStyle {
    std::string_view allocator;
    std::string_view variable;  // holds the list of all settings; empty: each setting has a variable of its own
    std::string_view prefix;    // stands before each name in the list
    char assign{};              // the character between name and value
    char separator{};           // the character between the settings of the list
    bool has_digits{};          // true and false are written as 1 and 0
    std::span<const AllocatorSetting> settings{};
};

[[nodiscard]] std::span<const SettingStyle> allocator_settings();
// find_setting_style and find_setting return nullptr if the table lacks the allocator or the setting.
[[nodiscard]] const SettingStyle* find_setting_style(std::string_view allocator);
[[nodiscard]] const AllocatorSetting* find_setting(std::string_view allocator, std::string_view name);

// The duration "never", which jemalloc writes as -1.
struct Never {
    friend bool operator==(const Never&, const Never&) = default;
};
// A number (bytes for a size, nanoseconds for a duration), a switch, a word, or "never".
using SettingValue = std::variant<std::uint64_t, bool, std::string_view, Never>;
struct ChosenSetting {
    std::string_view name;
    SettingValue value;
};

// Returns the value as the allocator reads it: "1048576", "false", "-1".
[[nodiscard]] std::string written_value(const SettingStyle& style, const AllocatorSetting& setting,
                                        const SettingValue& value);

// Returns the setting as reports show it: "tcache_count=0", "dirty_decay=1s".
[[nodiscard]] std::string setting_text(std::string_view allocator, const ChosenSetting& chosen);

// Returns the environment variables that give an allocator these settings. All settings must be in the table.
[[nodiscard]] Variables to_variables(std::string_view allocator, std::span<const ChosenSetting> chosen);

// Returns the character between the elements of a variable whose value is a list. Returns nullopt if the variable has a
// single value.
[[nodiscard]] std::optional<char> list_separator(std::string_view variable);

// Sets a variable. If the variable is a list and is in `variables` already, the value is appended, because the last
// element of a list takes effect. The value of any other variable is replaced.
void add_variable(Variables& variables, std::string_view name, std::string_view value);

// When a choice of settings is worth trying.

enum class TryOnly : std::uint8_t {
    always,
    with_threads,        // the setting concerns arenas, and a single thread uses only one
    when_idle,           // the setting has an effect only while the program is idle
    with_large_process,  // the setting itself costs a few MiB
};

struct AllocatorChoice {
    std::string_view allocator;
    std::array<ChosenSetting, 3> chosen{};  // entries without a name are unused
    TryOnly only{};
    bool adds_thread{};  // the allocator starts a thread, so it is not tried on programs that change their user

    [[nodiscard]] std::span<const ChosenSetting> settings() const;
};

// Returns the settings to try on a program, the most promising first.
[[nodiscard]] std::span<const AllocatorChoice> allocator_choices();

// Returns the choice as reports show it: "glibc trim_threshold=128KiB", "mimalloc", "jemalloc narenas=1 tcache=false".
[[nodiscard]] std::string choice_text(const AllocatorChoice& choice);

}  // namespace memsweep::model
