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
// Planted: in a sticky folder that others may write to, such as /tmp, another user may make a link, a file or a pipe to
// redirect our output. Such an entry is refused if it belongs neither to us nor to the folder's owner. The kernel has
// the same rule in fs.protected_symlinks, _regular and _fifos (proc_sys_fs(5)). But not every machine enables the
// kernel's rule, and the rule does not cover links that memsweep itself follows. memsweep cannot prevent another user
// from replacing a folder of the path by a link after this check.
struct OutputTarget {
    std::string path;                     // if the last component is a symbolic link: the path of the link's target
    std::optional<int> descriptor;        // for "-", /dev/stdout, /dev/fd/1, ...: the open descriptor, with its offset
    std::optional<struct stat> existing;  // absent: nothing exists at this path

    // Says whether rename(2) may put a new file at this path: it is a regular file, or nothing exists at the path.
    [[nodiscard]] bool replaceable() const noexcept;
    [[nodiscard]] std::string directory() const;
};

[[nodiscard]] base::Expected<OutputTarget> find_output_target(const std::string& path);

enum class Start { anew, at_its_end };

// Opens an output that is written piece by piece and not replaced as a whole: a log, a pipe, a device, an open
// descriptor. Makes the file if it does not exist. Start::anew empties a file first; Start::at_its_end keeps its
// content and appends.
//
// Errors   those of find_output_target; os: those of open(2).
[[nodiscard]] base::Expected<UniqueFd> open_output(const std::string& path, Start start);

// Says whether two paths lead to the same regular file. Compares existing files by device and inode, and files that do
// not exist yet by folder and name. Returns false for pipes and devices, because several writers may share them, and
// for a path with an error.
[[nodiscard]] bool is_same_output(const std::string& one, const std::string& other);

// Atomic replacement: at every moment the path names either the complete old file or the complete new one.
//
// Errors   io: `where` is the path, and the message names the cause ("cannot write: No space left on device").
// Threads  any. If two threads write the same path, the file that is renamed last remains.
// Ownership  after a failure or a stop signal, no temporary file remains. After SIGKILL one remains; the next write to
//            its directory removes it (left_behind.hpp).

// A Content is a function that produces the content of a file, which may be too long for memory. It passes the pieces
// of the content to a PieceTaker, in order, and stops if the PieceTaker returns false.
using PieceTaker = std::function<bool(std::string_view)>;
using Content = std::function<void(const PieceTaker&)>;

enum class Existing { replace, keep };

// Writes a new file in the same directory, flushes it to the disk and renames it over `path`.
//
// The new file gets the permissions of the old file, and its owner if the kernel allows that. If no file existed, the
// permissions are rw-rw-rw- minus the umask. A write-protected file is not replaced: an error is returned. If `path` is
// a symbolic link, its target is replaced. Pipes, devices and the open descriptors "-", /dev/stdout, /dev/stderr and
// /dev/fd/N are written directly.
//
// Existing::keep: a file that exists, or appears during the call, is not replaced, and the error's message says that it
// exists.
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, const Content& content,
                                                         Existing existing = Existing::replace);
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, std::string_view content);

// Checks that write_file_atomically will work, before hours are spent on the content. It makes missing directories and
// a temporary file, reserves `expected_bytes` of disk space for this file, and removes the file. On success the new
// directories remain. A file that exists at `path` is not touched.
[[nodiscard]] base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes);

// Gives `file` the permissions of the file that `other` describes, and its owner if the kernel allows that. Returns 0,
// or the errno of the failure.
[[nodiscard]] int take_mode_of(int file, const struct stat& other) noexcept;

// A file with a temporary name. commit_as() gives the file its final name. Without commit_as(), the destructor removes
// the file.
//
// Errors   functions return 0, or the errno of the call that failed. They name no path, because the caller knows which
//          path its error must name.
// Ownership  a stop signal removes the file. After SIGKILL it remains, and the next write to its directory removes it.
class TempFile {
  public:
    // Makes the file, with permissions rw-rw-rw- minus the umask. Absent: the file cannot be made, and errno says why.
    [[nodiscard]] static std::optional<TempFile> create_in(const std::string& directory);

    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    TempFile(TempFile&& other) noexcept;
    TempFile& operator=(TempFile&&) = delete;
    ~TempFile();

    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept;
    [[nodiscard]] int write(std::string_view content) noexcept;
    [[nodiscard]] int reserve(std::uint64_t bytes) noexcept;  // allocates disk space for the file
    // Flushes the file to the disk, then renames it to `path`. Existing::keep: returns EEXIST if `path` exists.
    [[nodiscard]] int commit_as(const std::string& path, Existing existing = Existing::replace) noexcept;

  private:
    TempFile(std::string path, RemovedAtStop at_stop, UniqueFd file) noexcept;

    std::string path_;
    RemovedAtStop at_stop_;  // a member, so that it is destroyed after ~TempFile has unlinked the name
    UniqueFd file_;
};

}  // namespace memsweep::sys
