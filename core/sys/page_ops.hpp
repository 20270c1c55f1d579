// Pages: mapping them, advising the kernel about them, touching them.
//
// Units    bytes; a page is page_size() bytes, also within a huge page.
// Memory   allocates nothing on success (no heap: mappings come from the kernel).
// Errors   os: mmap or madvise refused; not_supported: this kernel does not know the advice, or not for this mapping;
//          invalid_input: an empty mapping, or advice for memory that does not start on a page.
// Threads  every function may run in several threads at once; minor faults are counted for the whole process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/expected.hpp"

namespace memsweep::sys {

[[nodiscard]] std::uint64_t page_size() noexcept;

// A mapping of a file, or of zero-filled memory whose pages nobody has touched yet. The destructor unmaps it.
class Mapping {
  public:
    // `bytes` is rounded up to whole pages.
    [[nodiscard]] static base::Expected<Mapping> anonymous(std::uint64_t bytes) noexcept;

    // Shared anonymous memory: if its page-table entries go, its pages stay.
    [[nodiscard]] static base::Expected<Mapping> shared(std::uint64_t bytes) noexcept;

    // Passes these on to mmap; maps a file from its start.
    [[nodiscard]] static base::Expected<Mapping> map(std::uint64_t bytes, int protection, int flags,
                                                     int fd = -1) noexcept;

    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  private:
    Mapping(std::byte* data, std::uint64_t size) noexcept : data_{data}, size_{size} {}

    std::byte* data_{};
    std::uint64_t size_{};
};

enum class Advice : std::uint8_t {
    no_huge_pages,
    huge_pages,
    dont_need,       // anonymous private memory loses its contents and reads as zeros; shared memory keeps them
    free,            // anonymous private memory may lose its contents, page by page, until it is written again
    cold,            // reclaimed first when memory runs short, contents kept; Linux 5.4
    page_out,        // reclaimed now, contents kept; anonymous and shared memory only where there is swap; Linux 5.4
    populate_write,  // faults every page in for writing, contents kept; Linux 5.14
    populate_read,   // the same for reading
    will_need,       // starts to read pages in, of files, shared memory and swap
    sequential,      // read far ahead, of files
};

// `ptr` must lie on a page boundary; the kernel rounds `bytes` up to whole pages.
[[nodiscard]] base::Expected<void> advise(void* ptr, std::uint64_t bytes, Advice advice) noexcept;

// Makes every page resident and writable. Call it only for memory that nobody has written yet: before Linux 5.14 it
// writes a zero byte into each page. Returns false if there is no memory left.
[[nodiscard]] bool populate(void* ptr, std::uint64_t bytes) noexcept;

// Writes a zero byte into every page that [ptr, ptr + bytes) overlaps, at its first byte inside the range. Returns the
// number of pages. It never reads before it writes: reading first would fault twice, for the zero page and for its
// copy.
std::uint64_t touch_pages(void* ptr, std::uint64_t bytes) noexcept;

// Maps every page of the program and of the libraries it has loaded. Then code that runs for the first time later
// neither faults nor grows the resident set. The kernel maps 16 pages of a file at a fault (fault_around_bytes): one
// function that was not called before would show as 64 KiB. Needs Linux 5.14; before it nothing is done.
void populate_program() noexcept;

// Maps `bytes`, writes every page, unmaps; returns the bytes written. Call it before anything is timed, so that a
// virtual machine owns that memory.
//
// A guest may never have used some memory, or have returned it by free-page reporting. Its first touch then takes the
// memory from the host, and costs several times a plain minor fault (9-17 us a page against 0.8-2 us on one cloud VM).
// The caller keeps `bytes` below available_memory(): touching memory that is not there calls the out-of-memory killer
// and gives no error. The process's minor faults grow by the pages written; its resident set is afterwards as before.
[[nodiscard]] base::Expected<std::uint64_t> prefault_machine_memory(std::uint64_t bytes) noexcept;

}  // namespace memsweep::sys
