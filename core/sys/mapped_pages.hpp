// Memory of a chosen page size, and which page size the kernel really gave.
//
// Units    bytes.
// Sources  mmap and madvise; /proc/self/smaps; /sys/kernel/mm/hugepages below `root`.
// Errors   os: the kernel refused; not_supported: it has no such pages; budget: too few huge pages are reserved, with
// the
//          number that is needed.
// Ownership  PagedMemory unmaps in its destructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/names.hpp"

namespace memsweep::sys {

enum class PageSize : std::uint8_t {
    small,       // base pages alone: MADV_NOHUGEPAGE
    thp,         // transparent huge pages asked for: MADV_HUGEPAGE
    hugetlb_2m,  // reserved huge pages
    hugetlb_1g,
};

// What the resident pages of a range are.
struct PagesGot {
    std::uint64_t resident_bytes{};
    std::uint64_t thp_bytes{};
    std::uint64_t hugetlb_bytes{};
};

class PagedMemory {
  public:
    // Untouched; `bytes` is rounded up to whole pages of that size, and starts on one.
    [[nodiscard]] static base::Expected<PagedMemory> map(std::uint64_t bytes, PageSize pages,
                                                         const std::string& root = "/");

    PagedMemory(const PagedMemory&) = delete;
    PagedMemory& operator=(const PagedMemory&) = delete;
    PagedMemory(PagedMemory&& other) noexcept;
    PagedMemory& operator=(PagedMemory&& other) noexcept;
    ~PagedMemory();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] PageSize pages() const noexcept { return pages_; }

  private:
    PagedMemory() = default;
    void unmap() noexcept;

    std::byte* data_{};
    std::uint64_t size_{};
    std::byte* mapped_{};
    std::uint64_t mapped_bytes_{};
    PageSize pages_{};
};

// Of one page; what a fault brings in.
[[nodiscard]] std::uint64_t bytes_of(PageSize pages, const std::string& root = "/");

// Of the mappings that begin in [ptr, ptr + bytes).
[[nodiscard]] base::Expected<PagesGot> pages_got(const void* ptr, std::uint64_t bytes);

// "thp", "4k and thp": what was got, as a short word for a report. Empty when nothing is resident.
[[nodiscard]] std::string describe(const PagesGot& got);

// Whether all of it is what was asked for: for thp nine tenths, since ends do not fill a huge page.
[[nodiscard]] bool is_as_asked(const PagesGot& got, PageSize asked);

}  // namespace memsweep::sys

namespace memsweep::model {
template <>
std::span<const Named<sys::PageSize>> names<sys::PageSize>();
}  // namespace memsweep::model
