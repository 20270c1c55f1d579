// Places pages on NUMA nodes: sets the policy of a memory range, moves resident pages, and finds out on which nodes
// pages are.
//
// Units    node numbers; bit n of a mask is node n.
// Sources  mbind(2), move_pages(2), get_mempolicy(2), called by their system call numbers, so that libnuma is not
//          needed. hwloc is not used, because it would first have to load the machine's topology, which a worker (the
//          measured process) must not do.
// Memory   set_memory_policy and migrate_pages allocate nothing, because they run in the measured process.
// Errors   os: the kernel refused; not_supported: the kernel has no NUMA support; invalid_input: a node number that is
//          too large (bind_to_node).
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

// Returns the nodes that have memory which this process may use, in ascending order. If the kernel has no NUMA support,
// returns only node 0.
[[nodiscard]] std::vector<std::uint32_t> nodes_with_memory();

// Sets the policy for those pages of the range that are not resident yet. `numa.nodes` is a mask, so it can name only
// the nodes 0 to 63. `page_bytes` is the page size of the mapping. `bytes` is rounded up to whole pages, because the
// kernel refuses a part of a huge page. Returns false if the kernel refuses the nodes or does not know the policy.
[[nodiscard]] bool set_memory_policy(void* ptr, std::size_t bytes, const model::NumaSpec& numa,
                                     std::size_t page_bytes) noexcept;

// After this call, a page of [ptr, ptr + bytes) that is touched for the first time comes only from `node`.
// `ptr` must lie on a page boundary.
[[nodiscard]] base::Expected<void> bind_to_node(void* ptr, std::uint64_t bytes, std::uint32_t node);

// Makes the kernel take all new pages of the calling thread from one node: pages that this thread touches first, and
// pages that a driver pins while this thread calls the driver. The destructor restores the thread's former policy.
//
// Sources  set_mempolicy(2).
// Threads  use an object only in the thread that made it.
class ThreadPages {
  public:
    ThreadPages() = default;
    ThreadPages(const ThreadPages&) = delete;
    ThreadPages& operator=(const ThreadPages&) = delete;
    ~ThreadPages();

    [[nodiscard]] base::Expected<void> bind_to(std::uint32_t node);

  private:
    static constexpr std::size_t mask_words = 16;
    int mode_before_{-1};  // negative: there is no policy to restore
    std::array<std::uint64_t, mask_words> nodes_before_{};
};

// Says how many base pages of [ptr, ptr + bytes) lie on each node, as move_pages(2) reports it.
struct PagesByNode {
    std::map<std::uint32_t, std::uint64_t> pages;
    std::uint64_t not_resident{};
};
[[nodiscard]] base::Expected<PagesByNode> pages_by_node(const void* ptr, std::uint64_t bytes);

// The result of migrate_pages(), which moves the resident pages of the range to `node`. It does not move pages that
// another process also maps. Counts are in base pages.
struct Migration {
    std::uint64_t pages_there{};   // pages that are on `node` after the call
    std::uint64_t pages_left{};    // pages that stay on other nodes: `node` is full, or these pages cannot be moved
    std::uint64_t pages_absent{};  // pages that are not resident
    bool refused{};                // the node does not exist, or this process may not use it
};
[[nodiscard]] Migration migrate_pages(void* ptr, std::size_t bytes, std::uint32_t node) noexcept;

// Whether this kernel has weighted interleaving (Linux 6.9).
[[nodiscard]] bool has_weighted_interleave() noexcept;

}  // namespace memsweep::sys
