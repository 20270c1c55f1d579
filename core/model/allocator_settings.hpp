// The settings of allocators in one table: every setting's name, how it becomes environment, its bounds and where it is
// documented. Also which settings are worth trying on a program, in which order and under which conditions.
//
// Units    sizes in bytes, durations in nanoseconds; a variable gets the unit that its allocator reads.
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
    mebibytes,  // a size that its variable takes in whole MiB
    duration,   // that its variable takes in milliseconds
    toggle,
    word,
};

struct AllocatorSetting {
    std::string_view name;    // ours: sizes and durations carry no unit in it
    std::string_view target;  // the option's name in the variable of the allocator's style, or the variable itself
    SettingKind kind{};
    std::uint64_t min{};
    std::uint64_t max{};
    std::string_view help;
    std::span<const std::string_view> words{};  // the words of the kind `word`
    bool is_raw{};                              // no scenario may say it: too easily misread, or for old versions alone
};

// How settings are written into the environment.
struct SettingStyle {
    std::string_view allocator;
    std::string_view variable;  // that holds a list of them all; empty: each setting has one of its own
    std::string_view prefix;    // begins each name in the list
    char assign{};
    char separator{};
    bool has_digits{};  // 1 and 0 for true and false
    std::span<const AllocatorSetting> settings{};
};

[[nodiscard]] std::span<const SettingStyle> allocator_settings();
// nullptr for an allocator, or a setting of it, that is not in the table.
[[nodiscard]] const SettingStyle* find_setting_style(std::string_view allocator);
[[nodiscard]] const AllocatorSetting* find_setting(std::string_view allocator, std::string_view name);

// "Never", which durations alone have: jemalloc's -1.
struct Never {
    friend bool operator==(const Never&, const Never&) = default;
};
// A number (of nanoseconds for a duration), a switch, a word.
using SettingValue = std::variant<std::uint64_t, bool, std::string_view, Never>;
struct ChosenSetting {
    std::string_view name;
    SettingValue value;
};

// As the allocator reads it: "1048576", "false", "-1".
[[nodiscard]] std::string written_value(const SettingStyle& style, const AllocatorSetting& setting,
                                        const SettingValue& value);

// As a person reads it: "tcache_count=0", "dirty_decay=1s".
[[nodiscard]] std::string setting_text(std::string_view allocator, const ChosenSetting& chosen);

// The environment that gives an allocator these settings. All of them are in the table.
[[nodiscard]] Variables to_variables(std::string_view allocator, std::span<const ChosenSetting> chosen);

// The character that separates the elements of a variable that holds a list; empty: it holds one value.
[[nodiscard]] std::optional<char> list_separator(std::string_view variable);

// Sets a variable beside those that are there: a list gets one more element, which wins; any other is replaced.
void add_variable(Variables& variables, std::string_view name, std::string_view value);

// Settings worth trying.

enum class TryOnly : std::uint8_t {
    always,
    with_threads,        // it is about arenas, of which a single thread uses one
    when_idle,           // it is about what happens while a program rests
    with_large_process,  // it costs some MiB by itself
};

struct AllocatorChoice {
    std::string_view allocator;
    std::array<ChosenSetting, 3> chosen{};  // entries without a name are unused
    TryOnly only{};
    bool adds_thread{};  // by itself: it must not be tried where the program changes its user

    [[nodiscard]] std::span<const ChosenSetting> settings() const;
};

// The settings to try on a program, the most promising first.
[[nodiscard]] std::span<const AllocatorChoice> allocator_choices();

// "glibc trim_threshold=128KiB", "mimalloc", "jemalloc dirty_decay=1s background_thread=true".
[[nodiscard]] std::string choice_text(const AllocatorChoice& choice);

}  // namespace memsweep::model
