// Where pages lie: policies for a range, and the kernel's word on every page of it.
//
// Units    node numbers; bit n of a mask is node n, so nodes 0 to 63 can be named.
// Sources  mbind(2) and move_pages(2) by their numbers: neither library nor headers of libnuma are needed.
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/specs.hpp"

namespace memsweep::sys {

// For pages that are not there yet. `page_bytes`: of the mapping, whose whole pages are meant; the kernel refuses a
// part of a huge page. False: the kernel refuses these nodes or does not know the policy.
[[nodiscard]] bool set_memory_policy(void* ptr, std::size_t bytes, const model::NumaSpec& numa,
                                     std::size_t page_bytes) noexcept;

// Per page of the range, the node it lies on; negative: it is not there (-ENOENT), or why the kernel will not say.
[[nodiscard]] std::vector<int> nodes_of_pages(const void* ptr, std::size_t bytes);

// Moves the pages of the range that are there to `node`. Pages that other processes have mapped too stay.
struct Migration {
    std::uint64_t pages_there{};   // on the node afterwards
    std::uint64_t pages_left{};    // elsewhere: the node is full, or the page cannot be moved
    std::uint64_t pages_absent{};  // nothing to move
    bool refused{};                // no such node, or none that this process may use
};
[[nodiscard]] Migration migrate_pages(void* ptr, std::size_t bytes, std::uint32_t node) noexcept;

// Whether this kernel interleaves by weights (Linux 6.9).
[[nodiscard]] bool has_weighted_interleave() noexcept;

}  // namespace memsweep::sys
