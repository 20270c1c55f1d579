// How a setting of an allocator is written into its environment.
#pragma once

#include <span>
#include <string_view>

namespace memsweep::scenarios {

enum class SettingForm {
    plain,         // a number of bytes or a count; a choice as it stands
    milliseconds,  // of a duration
    mebibytes,     // of a size
    word,          // true, false
    digit,         // 1, 0
};

struct AllocatorSetting {
    std::string_view key;   // in the scenario
    std::string_view name;  // of the option in the variable, or of the variable itself
    SettingForm form{};
};

// Settings that share a variable, joined, or (variable empty) have one each.
struct SettingStyle {
    std::string_view variable;
    char assign{};
    char separator{};
};

[[nodiscard]] std::span<const AllocatorSetting> allocator_settings(std::string_view allocator);
[[nodiscard]] SettingStyle setting_style(std::string_view allocator);

}  // namespace memsweep::scenarios
