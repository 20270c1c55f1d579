// The allocator of one case: the value of the reserved axis, and its settings as the variables it reads.
//
// Errors   into Diagnostics: an unknown name with a suggestion, unknown settings, values out of bounds; settings in a
//          scenario without the axis, since nothing would take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/scalar.hpp"
#include "scenarios/fields.hpp"

namespace memsweep::scenarios {

inline constexpr std::string_view allocator_axis = "allocator";

// Why no worker can run under an allocator of this name; empty when one can, if its library is there.
[[nodiscard]] std::string allocator_mistake(std::string_view name);

// `node` is the block "allocators", or null.
void check_allocators(const Node* node, const std::vector<model::Axis>& axes, const Reading& reading);
[[nodiscard]] model::AllocatorSpec read_allocator(const Node* node, const std::vector<model::Param>& params,
                                                  const Reading& reading);

}  // namespace memsweep::scenarios
