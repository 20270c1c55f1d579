// The recording file of one process image. The first part of the file (header and slots) is mapped into memory.
//
// Errors   a negative errno, as the kernel gives it; errno may change.
// Memory   none: nothing here allocates.
// Threads  call create() with a lock held. Any thread may call the other functions.
// Ownership  in a forked child, a RecordingFile is still the parent's file. The child unmaps this file when it creates
//            a file of its own.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memsweep::trace::recorder {

// Makes a system call without the C library's own function for it. A thread may be cancelled in such a function, and
// other preloaded libraries may replace it.
//
// Errors   returns a negative errno, as the kernel does. errno itself stays as it was.
template <typename... Arguments>
long kernel(long number, Arguments... arguments) noexcept
{
    const int before = errno;
    const long result = ::syscall(number, arguments...);
    const long outcome = result == -1 ? -errno : result;
    errno = before;
    return outcome;
}

// Maps zeroed memory for the recorder itself. Returns its address, or a negative errno. MADV_DONTDUMP leaves the memory
// out of core dumps, and tells an observer that the memory is not the program's.
[[nodiscard]] inline long map_own_memory(std::size_t bytes, int flags = 0) noexcept
{
    const long at =
        kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at >= 0) {
        kernel(SYS_madvise, at, bytes, MADV_DONTDUMP);
    }
    return at;
}

// Returns the inode of /proc/self/ns/pid, which identifies this process's PID namespace (pid_namespaces(7)). 0: not
// known.
[[nodiscard]] std::uint32_t own_pid_namespace() noexcept;

// Returns the path of this process's program; empty: not known. A forked child keeps the path, because it may see no
// /proc.
[[nodiscard]] const char* own_program() noexcept;

inline constexpr std::size_t max_path_bytes = 4096;
inline constexpr unsigned max_images = 10'000;  // of one process

// Writes <folder>/<process>.<number><ending> to `path`. False: the text does not fit.
[[nodiscard]] bool make_path(std::array<char, max_path_bytes>& path, const char* folder, std::uint32_t process,
                             unsigned number, const char* ending) noexcept;

// A file of the recorder. It stays usable even if the program closes its descriptor, or opens another file under the
// descriptor's number.
//
// Errors   a negative errno.
class KeptFile {
  public:
    // Creates the file at path(). -EEXIST: a file with this path exists already. If this process lacks the permission
    // to create the file, memsweep creates it (lent_file.hpp).
    [[nodiscard]] long create() noexcept;
    [[nodiscard]] std::array<char, max_path_bytes>& path() noexcept { return path_; }
    // Returns a valid descriptor of the file, or a negative errno.
    [[nodiscard]] int usable_fd() noexcept;
    // Reserves disk space. Without it, a write to the mapping could raise SIGBUS in the program. -EFBIG: the file would
    // exceed the process's limit on file sizes. This is checked in advance, because the attempt would raise SIGXFSZ.
    [[nodiscard]] long reserve(std::uint64_t offset, std::uint64_t bytes) noexcept;
    [[nodiscard]] long set_size(std::uint64_t bytes) noexcept;
    void remove() noexcept;
    void close() noexcept;

  private:
    [[nodiscard]] bool is_ours() const noexcept;

    int fd_{-1};
    struct stat identity_ {};
    std::array<char, max_path_bytes> path_{};
};

class RecordingFile {
  public:
    // Makes <folder>/<process>.<number>.mst, with as many slots as limits on addresses and file sizes allow. If that
    // fails, leaves only a symbolic link that says why (recording_layout.hpp).
    [[nodiscard]] long create(const char* folder, std::uint32_t process) noexcept;

    // Leaves a symbolic link that says why a process cannot be recorded, if the reason lies outside of create(). If the
    // link cannot be made, adds an entry to the file "starts". `problem`: a negative errno.
    static void note_refusal(const char* folder, std::uint32_t process, long problem) noexcept;

    // Unmaps and closes the file in a forked child. Only the `bytes` bytes at `offset` stay mapped, as zeroed memory
    // without a file.
    void leave(std::uint64_t offset, std::uint64_t bytes) noexcept;

    [[nodiscard]] std::uint8_t* memory() const noexcept { return memory_; }
    [[nodiscard]] std::size_t mapped_bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }

    [[nodiscard]] long reserve(std::uint64_t offset, std::uint64_t bytes) noexcept
    {
        return file_.reserve(offset, bytes);
    }
    [[nodiscard]] const char* path() noexcept { return file_.path().data(); }
    // Writes the bytes, and behind them `zeroes` zero bytes (at most the size of a slot). A write of 64 KiB at an
    // offset that is a multiple of 64 KiB costs some 0.9 us a page, because the page cache takes it as one folio. Other
    // writes cost 1.6 us a page (ext4 of Linux 6.18). If set_aside() has allocated the disk blocks in advance, a write
    // costs 0.64 us a page.
    [[nodiscard]] long write(const std::uint8_t* from, std::size_t bytes, std::size_t zeroes,
                             std::uint64_t offset) noexcept;

  private:
    long open_new(const char* folder, std::uint32_t process) noexcept;
    long map() noexcept;
    void set_aside(int fd, std::uint64_t end) noexcept;
    void let_go() noexcept;
    void forget() noexcept;

    std::uint8_t* memory_{};
    std::size_t bytes_{};
    std::uint32_t slots_{};
    std::atomic<std::uint64_t> set_aside_{};  // disk blocks are allocated up to this offset
    KeptFile file_;
};

}  // namespace memsweep::trace::recorder
