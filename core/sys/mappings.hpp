// The address space of a process: its mappings, and the state of their pages.
//
// Units    bytes; addresses in the address space of that process.
// Sources  /proc/PID/smaps (Documentation/filesystems/proc.rst). PAGEMAP_SCAN of /proc/PID/pagemap (Linux 6.7,
//          Documentation/admin-guide/mm/pagemap.rst), or the entries of pagemap on older kernels. Reading these files
//          needs the right to trace the process. Physical page numbers are not read, because they need CAP_SYS_ADMIN.
// Exact    for a stopped process: the resident pages of a mapping add up to its Rss. There is one exception: while the
//          kernel migrates a page, Rss counts the page, but pagemap does not show it. So if rss_bytes() and
//          resident_bytes() differ, read_address_space() reads everything again, at most two more times.
// Cost     smaps: 3 to 5 us per mapping. PAGEMAP_SCAN: for each resident GiB, some 0.1 ms with huge pages and 4 ms with
//          base pages.
// Memory   some 200 bytes per mapping, and 24 per PageRun.
// Errors   os: the process has ended, or memsweep may not read its files; invalid_input: the text is not in the
//          kernel's format.
// Threads  any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

struct MappedArea {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::string permissions;  // "rw-p"
    std::uint64_t inode{};    // 0: anonymous
    std::string name;         // a path, "[heap]", "[stack]", "/memfd:x (deleted)"; empty: none
    std::uint64_t rss_bytes{};
    std::uint64_t pss_bytes{};
    std::uint64_t anonymous_bytes{};
    std::uint64_t anon_huge_bytes{};
    std::uint64_t swapped_bytes{};
    bool is_left_out_of_dumps{};  // MADV_DONTDUMP
    bool is_of_device{};          // VM_IO or VM_PFNMAP: its pages are neither in Rss nor in AddressSpace::pages

    [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
    [[nodiscard]] bool is_shared() const noexcept { return permissions.size() == 4 && permissions[3] == 's'; }
    [[nodiscard]] bool is_writable() const noexcept { return permissions.size() == 4 && permissions[1] == 'w'; }
    [[nodiscard]] bool is_executable() const noexcept { return permissions.size() == 4 && permissions[2] == 'x'; }
};

enum class PageState : std::uint8_t {
    anonymous,
    file,     // a page of a file or of shared memory
    swapped,  // not resident
    zero,     // the kernel's shared page of zeroes, which Rss does not count
};

// Consecutive pages of a mapping that are in the same state.
struct PageRun {
    std::uint64_t begin{};
    std::uint64_t end{};
    PageState state{};
    bool is_huge{};

    [[nodiscard]] bool is_resident() const noexcept
    {
        return state == PageState::anonymous || state == PageState::file;
    }
    friend bool operator==(const PageRun&, const PageRun&) = default;
};

enum class PagesFrom : std::uint8_t { scan, pagemap };

struct AddressSpace {
    std::vector<MappedArea> areas;  // by address
    std::vector<PageRun> pages;     // by address
    std::uint64_t page_tables_bytes{};
    std::uint64_t peak_rss_bytes{};  // VmHWM: the largest resident set so far; 0: not known
    PagesFrom from{};

    [[nodiscard]] std::uint64_t rss_bytes() const noexcept;
    [[nodiscard]] std::uint64_t resident_bytes() const noexcept;  // sum over `pages`; see Exact above
};

// Parses the text of a whole smaps file.
[[nodiscard]] base::Expected<std::vector<MappedArea>> parse_smaps(std::string_view text);

// Says by which method read_address_space() finds the state of pages. `best`: PAGEMAP_SCAN if the kernel has it, else
// the entries of pagemap. `pagemap`: always the entries of pagemap.
//
// The entries of pagemap do not say which pages are huge. They also show the kernel's page of zeroes as an anonymous
// page of the process, so a mapping may have more resident pages in pagemap than in its Rss. If pagemap shows 3 pages
// too many, 3 of the mapping's pages that contain only zeroes are reported as PageState::zero. To find these pages, the
// caller needs the right to read the memory of the process.
enum class PagesBy : std::uint8_t { best, pagemap };
[[nodiscard]] base::Expected<AddressSpace> read_address_space(pid_t process, PagesBy by = PagesBy::best);

// Reads the memory of another process.
class ForeignMemory {
  public:
    // Errors: os, /proc/PID/mem cannot be opened. Only a process that may trace `process` may open this file.
    [[nodiscard]] static base::Expected<ForeignMemory> open(pid_t process);
    ForeignMemory(const ForeignMemory&) = delete;
    ForeignMemory& operator=(const ForeignMemory&) = delete;
    ForeignMemory(ForeignMemory&& other) noexcept;
    ForeignMemory& operator=(ForeignMemory&&) = delete;
    ~ForeignMemory();

    // Copies up to `bytes` bytes, starting at `address`, into the buffer `into`. Returns how many could be read; 0:
    // none.
    [[nodiscard]] std::size_t read(std::uint64_t address, void* into, std::size_t bytes) const noexcept;

  private:
    explicit ForeignMemory(int fd) noexcept : fd_{fd} {}
    int fd_;
};

}  // namespace memsweep::sys
