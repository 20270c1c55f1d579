// Pools by name: values that keys of the file then change.
//
// Sources  DotCompute's object pool: its default, high-frequency and memory-constrained settings.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/pool_spec.hpp"

namespace memsweep::scenarios {

[[nodiscard]] std::vector<std::string_view> preset_names();

// `name` is one of them. Only what the preset says is changed.
void apply_preset(std::string_view name, model::PoolSpec& pool);

}  // namespace memsweep::scenarios
