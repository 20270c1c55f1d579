// Gets memory on pages of a chosen kind, bound to a chosen NUMA node. The kernel is asked which pages and which nodes
// the memory really has.
//
// Units    bytes.
// Sources  mmap and madvise; numa.hpp; /proc/self/smaps; /sys/kernel/mm/hugepages below `root`.
//
// Errors   os: the kernel refused; not_supported: the machine has no pages of that kind, or no memory on that node;
//          budget: too few huge pages are reserved; the message says how many are needed.
//
// Ownership  the destructor of PlacedMemory unmaps the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/specs.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::sys {

// The resident bytes of a range, by kind of page.
struct PagesGot {
    std::uint64_t resident_bytes{};  // Rss: transparent huge pages are counted in it, hugetlb pages are not
    std::uint64_t thp_bytes{};
    std::uint64_t hugetlb_bytes{};
};

// What the kernel says about a memory range.
struct PlacementProof {
    std::string text{"none"};   // on which nodes the range lies: "512 pages on node 0 (move_pages)"
    std::string pages{"none"};  // which kinds of pages it has, as describe() writes them: "thp"
    bool wrong{};               // a part of the range lies on another node than requested
};
// Both functions return what the kernel says about a range. prove_placement() asks the kernel. placement_proof() uses
// an answer that the caller already has, and does not fill in PlacementProof::pages. `asked`: the requested node;
// absent: none was requested.
[[nodiscard]] PlacementProof placement_proof(const base::Expected<PagesByNode>& pages,
                                             std::optional<std::uint32_t> asked);
[[nodiscard]] PlacementProof prove_placement(const void* ptr, std::uint64_t bytes, std::optional<std::uint32_t> asked);

struct PlacedRequest {
    std::uint64_t bytes{};
    model::PageKind pages{};
    bool or_small{};                    // take base pages if this machine has no pages of the kind `pages`
    std::optional<std::uint32_t> node;  // absent: the kernel chooses
};

class PlacedMemory {
  public:
    // Returns bound memory in which every page is resident.
    [[nodiscard]] static base::Expected<PlacedMemory> touched(const PlacedRequest& request);

    // Returns bound memory in which no page is resident: for callers that touch it with several threads, or that time
    // the first touch.
    [[nodiscard]] static base::Expected<PlacedMemory> untouched(const PlacedRequest& request);

    // Returns memory that is neither bound to a node nor touched. It starts at a boundary of pages of this kind;
    // `bytes` is rounded up to whole pages of this kind. `root` ends with a slash.
    [[nodiscard]] static base::Expected<PlacedMemory> map(std::uint64_t bytes, model::PageKind pages,
                                                          const std::string& root = "/");

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] model::PageKind pages() const noexcept { return pages_; }

    [[nodiscard]] PlacementProof prove() const { return prove_placement(data_, size_, node_); }

  private:
    PlacedMemory(Mapping mapped, std::byte* data, std::uint64_t size, model::PageKind pages) noexcept
        : mapped_{std::move(mapped)}, data_{data}, size_{size}, pages_{pages}
    {
    }

    Mapping mapped_;
    std::byte* data_;
    std::uint64_t size_;
    model::PageKind pages_;
    std::optional<std::uint32_t> node_;
};

// The reserved huge pages (hugetlb) of this machine, one pool per page size, smallest size first.
struct HugePagePool {
    std::uint64_t page_bytes{};
    std::uint64_t reserved{};  // pages in the pool
    std::uint64_t free{};      // the reserved pages that no process uses
};
[[nodiscard]] std::vector<HugePagePool> huge_page_pools(const std::string& root = "/");

// Returns the size of a page of this kind, which is the memory that one page fault maps. 0: the kernel has no pages of
// this kind.
[[nodiscard]] std::uint64_t bytes_of(model::PageKind pages, const std::string& root = "/");

// Returns the resident bytes, by kind of page, of all mappings whose start lies in [ptr, ptr + bytes).
[[nodiscard]] base::Expected<PagesGot> pages_got(const void* ptr, std::uint64_t bytes);

// Returns the kinds of pages as a short text for a report: "4k", "thp", "4k, 37 % of it thp" (37 % of the bytes are in
// transparent huge pages), "hugetlb". Empty: no page is resident.
[[nodiscard]] std::string describe(const PagesGot& got);

}  // namespace memsweep::sys
