// How the parts of a compiled replay lie in its words.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/trace/replay/replay_program.hpp"

namespace memsweep::trace {

template <typename T>
inline constexpr std::size_t words_of = sizeof(T) / sizeof(std::uint64_t);

static_assert(sizeof(ExtendedOp) % 8 == 0 && sizeof(ReplayThread) % 8 == 0 && sizeof(ReplayHeader) % 8 == 0);
static_assert(std::is_trivially_copyable_v<ExtendedOp> && std::is_trivially_copyable_v<ReplayThread>);

// Changes with every change of the records, so that a worker of another build refuses them.
inline constexpr std::uint64_t replay_magic =
    0x6D73776570726C32ULL ^ (sizeof(ReplayHeader) << 32U) ^ (sizeof(ReplayThread) << 16U) ^ sizeof(ExtendedOp);

}  // namespace memsweep::trace
