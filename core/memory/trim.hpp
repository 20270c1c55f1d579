// Takes the resident pages of a block away.
//
// Units    bytes; what is trimmed counts in whole pages.
// Sources  madvise(2). `soft` is MADV_DONTNEED of a shared mapping.
// Errors   `refused`: the kernel does not know the advice, or not for this memory.
// Memory   where contents can be lost, only pages that lie wholly inside the block; otherwise also those that it
//          shares with its neighbours, which lose nothing but time.
#pragma once

#include <cstdint>

#include "core/model/paging.hpp"

namespace memsweep::memory {

struct Trimmed {
    std::uint64_t bytes{};
    bool refused{};
};

// `how` is neither none nor cgroup, which knows no blocks.
[[nodiscard]] Trimmed trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept;

}  // namespace memsweep::memory
