// What malloc and free cost by size under an allocator: every measurement in a fresh process of ours, which ran nothing
// else before, under that malloc.
//
// Errors   os: no process could be started; invalid_input: it ran under another malloc, refused the size or died.
#pragma once

#include <cstdint>

#include "core/base/expected.hpp"
#include "core/measure/cliffs.hpp"
#include "core/model/allocator.hpp"

namespace memsweep::app {

[[nodiscard]] base::Expected<measure::SizeCost> cost_under(const model::AllocatorSpec& allocator, std::uint64_t bytes);

}  // namespace memsweep::app
