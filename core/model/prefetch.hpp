// Bringing pages in before a program uses them: by which advice.
//
// Sources  madvise(2).
#pragma once

#include <cstdint>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class PrefetchHow : std::uint8_t { none, willneed, populate_read, populate_write };

template <>
std::span<const Named<PrefetchHow>> names<PrefetchHow>();

}  // namespace memsweep::model
