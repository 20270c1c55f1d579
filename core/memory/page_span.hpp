// The whole pages that a block overlaps: those at its ends it may share with its neighbours.
//
// Units    bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

struct PageSpan {
    std::byte* begin{};
    std::uint64_t bytes{};
};

[[nodiscard]] inline PageSpan pages_of(void* ptr, std::uint64_t bytes) noexcept
{
    const std::uint64_t page = sys::page_size();
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uint64_t before = address % page;
    return {static_cast<std::byte*>(ptr) - before, bytes == 0 ? 0 : round_up(before + bytes, page)};
}

}  // namespace memsweep::memory
