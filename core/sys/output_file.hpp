// Output files: resolves their paths, and writes a file completely or not at all.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/output_stream.hpp"

namespace memsweep::sys {

// The target of an output path: a file that can be replaced, or something that can only be written to.
//
// Errors   io: the path is empty or names a directory, its links form a loop, a parent cannot be searched, or another
//          user may have planted a part of it. `where` is the path as given.
//
// Planted: in a sticky folder that others may write to, such as /tmp, another user may place a link, a file or a pipe
// there to redirect our output. It is refused if it belongs neither to us nor to the folder's owner. The kernel has the
// same rule in fs.protected_symlinks, _regular and _fifos (proc_sys_fs(5)). But not every machine enables it, and it
// does not cover links that we follow ourselves. We cannot prevent another user from replacing a folder of the path by
// a link after our check.
struct OutputTarget {
    std::string path;                     // of the target itself, if the last component is a symbolic link
    std::optional<int> descriptor;        // for "-", /dev/stdout, /dev/fd/N: the open descriptor, with its offset
    std::optional<struct stat> existing;  // absent: nothing exists at this path

    // True for a regular file and for a path where nothing exists: rename(2) may put a new file there.
    [[nodiscard]] bool replaceable() const noexcept;
    [[nodiscard]] std::string directory() const;
};

[[nodiscard]] base::Expected<OutputTarget> find_output_target(const std::string& path);

enum class Start { anew, at_its_end };

// Opens an output that is not replaced at once but written piece by piece: a log, a pipe, a device, an open descriptor.
// Makes the file if it does not exist.
//
// Errors   those of find_output_target; os: those of open(2).
[[nodiscard]] base::Expected<UniqueFd> open_output(const std::string& path, Start start);

// Whether two paths lead to the same regular file. Existing files are compared by device and inode, others by folder
// and name. Always false for pipes and devices, because several writers may share them.
[[nodiscard]] bool is_same_output(const std::string& one, const std::string& other);

// Atomic replacement: at every moment the path names either the complete old file or the complete new one.
//
// Errors   io: `where` is the path, and the message names the cause ("cannot write: No space left on device").
// Threads  any. If two threads write the same path, the file of the later one remains.
// Ownership  after a failure or a stop signal, no temporary file remains. One that SIGKILL left is removed by the next
//            write to that directory (left_behind.hpp).

// A content that may be too long for memory: a function that passes its pieces to `PieceTaker` in order. It stops if
// the taker returns false.
using PieceTaker = std::function<bool(std::string_view)>;
using Content = std::function<void(const PieceTaker&)>;

enum class Existing { replace, keep };

// Writes a new file in the same directory, flushes it to the disk and renames it over `path`.
//
// The new file gets the permissions of the old one, and its owner if the kernel allows that. If there was no file, the
// permissions are rw-rw-rw- minus the umask. A write-protected file is refused. If `path` is a symbolic link, its
// target is replaced. Pipes, devices and the open descriptors "-", /dev/stdout, /dev/stderr and /dev/fd/N are written
// directly.
//
// Existing::keep: if a file exists or appears meanwhile, it is not replaced, and the error's message says so.
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, const Content& content,
                                                         Existing existing = Existing::replace);
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, std::string_view content);

// Checks that write_file_atomically will work, before hours are spent on the content. It makes missing directories,
// makes a temporary file, reserves `expected_bytes` for it, and removes it. On success the new directories remain. An
// existing file is not touched.
[[nodiscard]] base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes);

// Gives `file` the permissions of another file, and its owner if the kernel allows that. Returns the errno, or 0.
[[nodiscard]] int take_mode_of(int file, const struct stat& other) noexcept;

// A file with a temporary name. commit_as() gives it its final name; otherwise the destructor removes it.
//
// Errors   functions return 0 or the errno of the call that failed. The caller knows which path to name.
// Ownership  after a stop signal or SIGKILL, the same holds as for write_file_atomically.
class TempFile {
  public:
    // Makes the file, with mode rw-rw-rw- minus the umask. Absent, with errno set: it cannot be made.
    [[nodiscard]] static std::optional<TempFile> create_in(const std::string& directory);

    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    TempFile(TempFile&& other) noexcept;
    TempFile& operator=(TempFile&&) = delete;
    ~TempFile();

    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept;
    [[nodiscard]] int write(std::string_view content) noexcept;
    [[nodiscard]] int reserve(std::uint64_t bytes) noexcept;  // allocates disk space for the file
    // Flushes the file to the disk, then renames it. Existing::keep: returns EEXIST if a file exists.
    [[nodiscard]] int commit_as(const std::string& path, Existing existing = Existing::replace) noexcept;

  private:
    TempFile(std::string path, RemovedAtStop at_stop, UniqueFd file) noexcept;

    std::string path_;
    RemovedAtStop at_stop_;  // a member, so that it is destroyed after ~TempFile has unlinked the name
    UniqueFd file_;
};

}  // namespace memsweep::sys
