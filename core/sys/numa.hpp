// Controls and tells where pages lie: policies for a range, moving resident pages, and the kernel's word on every page.
//
// Units    node numbers; bit n of a mask is node n.
// Sources  mbind(2), move_pages(2) and get_mempolicy(2) by their numbers: neither library nor headers of libnuma are
//          needed. hwloc binds memory by the same calls, but needs its topology for it, which a worker must not load.
// Memory   set_memory_policy and migrate_pages allocate nothing: they run in the process that is measured.
// Errors   os: the kernel refused; not_supported: it knows no NUMA.
// Threads  any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/specs.hpp"

namespace memsweep::sys {

// Nodes that have memory and that this process may use, in the order of their numbers; node 0 if the kernel knows no
// NUMA.
[[nodiscard]] std::vector<std::uint32_t> nodes_with_memory();

// Sets the policy for pages of the range that do not exist yet; nodes 0 to 63. `page_bytes` is the page size of the
// mapping. The range is extended to whole pages, because the kernel refuses a part of a huge page. False: the kernel
// refuses these nodes or does not know the policy.
[[nodiscard]] bool set_memory_policy(void* ptr, std::size_t bytes, const model::NumaSpec& numa,
                                     std::size_t page_bytes) noexcept;

// Pages of [ptr, ptr + bytes) that are touched from now on come from this node alone. Page-aligned.
[[nodiscard]] base::Expected<void> bind_to_node(void* ptr, std::uint64_t bytes, std::uint32_t node);

// Takes pages for the calling thread from one node alone: those that it touches first, and those that a driver locks
// during a call. The destructor restores the former policy.
//
// Sources  set_mempolicy(2).
// Threads  a ThreadPages belongs to the thread that made it.
class ThreadPages {
  public:
    ThreadPages() = default;
    ThreadPages(const ThreadPages&) = delete;
    ThreadPages& operator=(const ThreadPages&) = delete;
    ~ThreadPages();

    [[nodiscard]] base::Expected<void> bind_to(std::uint32_t node);

  private:
    static constexpr std::size_t mask_words = 16;
    int mode_before_{-1};  // negative: nothing to put back
    std::array<std::uint64_t, mask_words> nodes_before_{};
};

// How many base pages of [ptr, ptr + bytes) lie on each node, by the kernel's word.
struct PagesByNode {
    std::map<std::uint32_t, std::uint64_t> pages;
    std::uint64_t not_resident{};
};
[[nodiscard]] base::Expected<PagesByNode> pages_by_node(const void* ptr, std::uint64_t bytes);

// Moves the resident pages of the range to `node`. Pages that other processes have mapped too stay.
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
