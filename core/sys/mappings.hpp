// The address space of a process: its mappings, and which of their pages are resident and of what kind.
//
// Units    bytes; addresses of that process.
// Sources  /proc/PID/smaps (Documentation/filesystems/proc.rst); PAGEMAP_SCAN of /proc/PID/pagemap (Linux 6.7,
//          Documentation/admin-guide/mm/pagemap.rst), and before it the entries of pagemap. Both need only rights over
//          the process. The frames of pages would need more, and are not read.
// Exact    for a process that is stopped: then the pages of a mapping are what its Rss says. A page that the kernel is
//          just moving is in Rss, but is not found here. So if rss_bytes() and resident_bytes() differ, all is read
//          again, at most twice.
// Cost     smaps: 3 to 5 us a mapping. PAGEMAP_SCAN: some 0.1 ms a resident GiB in huge pages, 4 ms in small ones.
// Memory   some 200 bytes a mapping, and 24 a run of pages in one state.
// Errors   os: the process is gone, or belongs to somebody else; invalid_input: a text that no kernel prints.
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
    bool is_of_device{};          // its pages are counted nowhere: VM_IO, VM_PFNMAP

    [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
    [[nodiscard]] bool is_shared() const noexcept { return permissions.size() == 4 && permissions[3] == 's'; }
    [[nodiscard]] bool is_writable() const noexcept { return permissions.size() == 4 && permissions[1] == 'w'; }
    [[nodiscard]] bool is_executable() const noexcept { return permissions.size() == 4 && permissions[2] == 'x'; }
};

enum class PageState : std::uint8_t {
    anonymous,
    file,     // of a file, or of shared memory
    swapped,  // not resident
    zero,     // the kernel's page of zeroes, which is nobody's and in no Rss
};

// Pages in one state that lie side by side in one mapping.
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
    std::uint64_t peak_rss_bytes{};  // VmHWM: the most that was resident since it began; 0: not known
    PagesFrom from{};

    [[nodiscard]] std::uint64_t rss_bytes() const noexcept;
    [[nodiscard]] std::uint64_t resident_bytes() const noexcept;  // by the pages; equals rss_bytes() if nothing moved
};

// The text of a whole smaps file.
[[nodiscard]] base::Expected<std::vector<MappedArea>> parse_smaps(std::string_view text);

// How the state of pages is found. `best` uses PAGEMAP_SCAN if the kernel has it, else the entries of pagemap.
//
// The entries of pagemap do not say which pages are huge. They also show the kernel's page of zeroes as if it were the
// process's own. So a mapping may have more pages in pagemap than in smaps. Then that many of its all-zero pages are
// reported as PageState::zero, if the memory of the process may be read.
enum class PagesBy : std::uint8_t { best, pagemap };
[[nodiscard]] base::Expected<AddressSpace> read_address_space(pid_t process, PagesBy by = PagesBy::best);

// A process's memory, read from outside.
class ForeignMemory {
  public:
    // Errors: os, because only a process that may trace this one may open /proc/PID/mem.
    [[nodiscard]] static base::Expected<ForeignMemory> open(pid_t process);
    ForeignMemory(const ForeignMemory&) = delete;
    ForeignMemory& operator=(const ForeignMemory&) = delete;
    ForeignMemory(ForeignMemory&& other) noexcept;
    ForeignMemory& operator=(ForeignMemory&&) = delete;
    ~ForeignMemory();

    // How many of the bytes could be read.
    [[nodiscard]] std::size_t read(std::uint64_t address, void* into, std::size_t bytes) const noexcept;

  private:
    explicit ForeignMemory(int fd) noexcept : fd_{fd} {}
    int fd_;
};

}  // namespace memsweep::sys
