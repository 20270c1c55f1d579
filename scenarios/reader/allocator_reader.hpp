// The allocator of one case: the value of the reserved axis, and its settings as the variables it reads.
//
// Errors   into Diagnostics: an unknown name with a suggestion, unknown settings, values out of bounds; settings in a
//          scenario without the axis, since nothing would take them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/scalar.hpp"
#include "scenarios/reader/fields.hpp"

namespace memsweep::scenarios {

// How a setting is written into the worker's environment.
enum class SettingForm : std::uint8_t {
    plain,         // a number of bytes or a count; a choice as it stands
    milliseconds,  // of a duration
    mebibytes,     // of a size
    word,          // true, false
    digit,         // 1, 0
};

struct SettingTarget {
    std::string_view name;  // of the option in the variable, or of the variable itself
    SettingForm form{};
};

// Settings that share a variable, joined, or (variable empty) have one each.
struct SettingStyle {
    std::string_view variable;
    char assign{};
    char separator{};
};

// Where each of allocator_options() goes, in their order.
[[nodiscard]] std::span<const SettingTarget> setting_targets(std::string_view allocator);
[[nodiscard]] SettingStyle setting_style(std::string_view allocator);

inline constexpr std::string_view allocator_axis = "allocator";

// Why no worker can run under an allocator of this name; empty when one can, if its library is there.
[[nodiscard]] std::string allocator_mistake(std::string_view name);

// `node` is the block "allocators", or null.
void check_allocators(const Node* node, const std::vector<model::Axis>& axes, const Reading& reading);
[[nodiscard]] model::AllocatorSpec read_allocator(const Node* node, const std::vector<model::Param>& params,
                                                  const Reading& reading);

}  // namespace memsweep::scenarios
