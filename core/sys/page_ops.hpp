// Operations on pages: maps them, advises the kernel about them, touches them.
//
// Units    bytes; a page has page_size() bytes, even inside a huge page.
// Memory   allocates nothing on the heap on success.
// Errors   os: mmap or madvise failed; not_supported: the kernel does not know the advice, or does not accept it for
//          this mapping; invalid_input: an empty mapping, or advice for memory that does not start on a page boundary.
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/expected.hpp"

namespace memsweep::sys {

[[nodiscard]] std::uint64_t page_size() noexcept;

// A mapping of a file, or of zero-filled memory. The destructor unmaps it.
class Mapping {
  public:
    // `bytes` is rounded up to whole pages.
    [[nodiscard]] static base::Expected<Mapping> anonymous(std::uint64_t bytes) noexcept;

    // Shared anonymous memory. Its pages keep their contents even after Advice::dont_need, which drops only their
    // page-table entries.
    [[nodiscard]] static base::Expected<Mapping> shared(std::uint64_t bytes) noexcept;

    // Calls mmap with these arguments and offset 0.
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
    dont_need,  // anonymous private memory loses its contents and reads as zeroes; shared memory keeps its contents
    free,       // a page of anonymous private memory may lose its contents until it is written again
    cold,       // the pages are reclaimed first if memory runs short; contents kept; Linux 5.4
    page_out,   // reclaims the pages now; contents kept; anonymous and shared memory needs swap; Linux 5.4
    populate_write,  // maps every page for writing; contents kept; Linux 5.14
    populate_read,   // maps every page for reading; contents kept; Linux 5.14
    will_need,       // starts to read pages of files, shared memory or swap
    sequential,      // a file will be read in order: the kernel reads further ahead
};

// `ptr` must lie on a page boundary; the kernel rounds `bytes` up to whole pages.
[[nodiscard]] base::Expected<void> advise(void* ptr, std::uint64_t bytes, Advice advice) noexcept;

// Makes every page resident and writable. Use it only for memory that has no data yet: before Linux 5.14 it writes a
// zero byte into each page. Returns false if the kernel refused, for example because memory is exhausted.
[[nodiscard]] bool populate(void* ptr, std::uint64_t bytes) noexcept;

// Writes a zero byte into every page that overlaps [ptr, ptr + bytes), at the page's first byte inside the range.
// Returns the number of these pages. It never reads a page before it writes: that would cause two faults, one that maps
// the kernel's page of zeroes, and one that replaces it by a page of the process.
std::uint64_t touch_pages(void* ptr, std::uint64_t bytes) noexcept;

// Maps every page of the program and of its loaded libraries. After this call, code that runs for the first time causes
// no fault and does not increase the resident set. Without this call, one new function could add 64 KiB, because the
// kernel maps 16 pages of a file at each fault (fault_around_bytes). Does nothing before Linux 5.14.
void populate_program() noexcept;

// Maps `bytes` bytes, touches every page, and unmaps the pages. Returns how many bytes it touched: `bytes` rounded up
// to whole pages. Call it in a virtual machine before anything is timed, so that the host has already given this memory
// to the machine.
//
// The host gives a page to a guest (a virtual machine) when the guest first touches the page. If the guest has returned
// the page by free-page reporting, the host gives it again at the next touch. On one cloud VM, a touch for which the
// host gave a page took 9 to 17 us, and a plain minor fault 0.8 to 2 us.
//
// `bytes` must be less than available_memory(): otherwise the out-of-memory killer ends a process, and no error is
// returned. The call adds one minor fault per page to the counts of this process. After the call the resident set is as
// large as before it.
[[nodiscard]] base::Expected<std::uint64_t> prefault_machine_memory(std::uint64_t bytes) noexcept;

}  // namespace memsweep::sys
