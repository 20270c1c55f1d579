// The file of one process image. Its first part, header and slots, is mapped.
//
// Errors   a negative errno, as the kernel gives it; errno may change.
// Memory   none: nothing here allocates.
// Threads  create: with a lock held; the rest any.
// Ownership  a forked child finds its parent's file here, and lets go of it when it creates its own.
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

// Makes a system call without the C library's wrapper. In a wrapper a thread may be cancelled, and other preloaded
// libraries may stand in front of it.
//
// Errors   a negative errno as the result, as the kernel gives it; errno itself stays as it was.
template <typename... Arguments>
long kernel(long number, Arguments... arguments) noexcept
{
    const int before = errno;
    const long result = ::syscall(number, arguments...);
    const long outcome = result == -1 ? -errno : result;
    errno = before;
    return outcome;
}

// Zeroed memory for the recorder itself, or a negative errno. It is left out of core dumps (MADV_DONTDUMP), and that
// flag tells an observer that it is not the program's memory.
[[nodiscard]] inline long map_own_memory(std::size_t bytes, int flags = 0) noexcept
{
    const long at =
        kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (at >= 0) {
        kernel(SYS_madvise, at, bytes, MADV_DONTDUMP);
    }
    return at;
}

// The inode of /proc/self/ns/pid, the namespace of this process's number (pid_namespaces(7)); 0: not known.
[[nodiscard]] std::uint32_t own_pid_namespace() noexcept;

inline constexpr std::size_t max_path_bytes = 4096;
inline constexpr unsigned max_images = 10'000;  // program images of one process

// Makes <folder>/<process>.<number><ending>; false: it does not fit.
[[nodiscard]] bool make_path(std::array<char, max_path_bytes>& path, const char* folder, std::uint32_t process,
                             unsigned number, const char* ending) noexcept;

// A file of the recorder. The program may close its descriptor, and open another file under that number.
//
// Errors   a negative errno.
class KeptFile {
  public:
    // Creates the file at `path()`. There must be none.
    [[nodiscard]] long create() noexcept;
    [[nodiscard]] std::array<char, max_path_bytes>& path() noexcept { return path_; }
    // The descriptor, or why there is none.
    [[nodiscard]] int usable_fd() noexcept;
    // Reserves room on the disk. Without it a write to a mapping would be a SIGBUS in the program. -EFBIG: beyond the
    // limit of the process, where trying would be a SIGXFSZ.
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
    // fails, only the link that says why is left (recording_layout.hpp).
    [[nodiscard]] long create(const char* folder, std::uint32_t process) noexcept;

    // Leaves that link for a process that is not recorded for another reason. `problem`: a negative errno.
    static void note_refusal(const char* folder, std::uint32_t process, long problem) noexcept;

    // Lets go of the file in a forked child. Only these bytes stay, as zeroes that belong to no file.
    void leave(std::uint64_t offset, std::uint64_t bytes) noexcept;

    [[nodiscard]] std::uint8_t* memory() const noexcept { return memory_; }
    [[nodiscard]] std::size_t mapped_bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }

    [[nodiscard]] long reserve(std::uint64_t offset, std::uint64_t bytes) noexcept
    {
        return file_.reserve(offset, bytes);
    }
    [[nodiscard]] const char* path() noexcept { return file_.path().data(); }
    // Writes the bytes with so many zeroes behind, at most a slot's size. 64 KiB that begin at a multiple of 64 KiB
    // cost some 0.9 us a page, because the page cache takes them as one folio; others cost 1.6 (ext4 of Linux 6.18).
    // With blocks of the disk set aside before, it is 0.64.
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
    std::atomic<std::uint64_t> set_aside_{};  // blocks of the disk up to here are this file's
    KeptFile file_;
};

}  // namespace memsweep::trace::recorder
