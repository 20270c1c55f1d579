// Memory mapped on pages of a chosen kind, bound to a node, touched, and proven by the kernel's word.
//
// Units    bytes.
// Sources  mmap and madvise; numa.hpp; /proc/self/smaps; /sys/kernel/mm/hugepages below `root`.
//
// Errors   os: the kernel refused; not_supported: it has no such pages, or none on that node; budget: too few of
//          them are reserved, with the number that is needed.
//
// Ownership  PlacedMemory unmaps in its destructor.
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

// The kinds of the resident pages of a range.
struct PagesGot {
    std::uint64_t resident_bytes{};
    std::uint64_t thp_bytes{};
    std::uint64_t hugetlb_bytes{};
};

// The kernel's word on the place and the pages of memory: "512 pages on node 0 (move_pages)", "thp".
struct PlacementProof {
    std::string text{"none"};
    std::string pages{"none"};
    bool wrong{};  // on another node than asked
};
[[nodiscard]] PlacementProof placement_proof(const base::Expected<PagesByNode>& pages,
                                             std::optional<std::uint32_t> asked);
[[nodiscard]] PlacementProof prove_placement(const void* ptr, std::uint64_t bytes, std::optional<std::uint32_t> asked);

struct PlacedRequest {
    std::uint64_t bytes{};
    model::PageKind pages{};
    bool or_small{};                    // base pages will do, if this machine has none of that kind
    std::optional<std::uint32_t> node;  // absent: wherever the kernel puts it
};

class PlacedMemory {
  public:
    // Memory that is bound, with every page resident.
    [[nodiscard]] static base::Expected<PlacedMemory> touched(const PlacedRequest& request);

    // Memory that is bound, with no page resident: for callers that touch it by several threads, or time the touch.
    [[nodiscard]] static base::Expected<PlacedMemory> untouched(const PlacedRequest& request);

    // Memory that is neither bound nor touched. It starts on a page of that kind, and `bytes` is rounded up to whole
    // ones.
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

// The huge pages that this machine has reserved, smallest pages first.
struct HugePagePool {
    std::uint64_t page_bytes{};
    std::uint64_t reserved{};
    std::uint64_t free{};
};
[[nodiscard]] std::vector<HugePagePool> huge_page_pools(const std::string& root = "/");

// The bytes of one page, which one fault brings in.
[[nodiscard]] std::uint64_t bytes_of(model::PageKind pages, const std::string& root = "/");

// The page kinds of the mappings that begin in [ptr, ptr + bytes).
[[nodiscard]] base::Expected<PagesGot> pages_got(const void* ptr, std::uint64_t bytes);

// "thp", "4k and thp": the kinds as a short word for a report. Empty if nothing is resident.
[[nodiscard]] std::string describe(const PagesGot& got);

}  // namespace memsweep::sys
