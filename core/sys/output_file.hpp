// Output files: resolving their paths, and writing them whole or not at all.
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
// Errors   io: the path is empty or names a directory, its links go in circles, a parent cannot be searched, or
//          somebody else may have planted a part of it (below). `where` is the path as given.
//
// In a sticky folder that others may write to (/tmp), a link, a file or a pipe is refused if it belongs neither to us
// nor to the folder's owner. Somebody may have put it there for us to write through. The kernel's
// fs.protected_symlinks, _regular and _fifos (proc_sys_fs(5)) have the same rule, but are not on everywhere, and do not
// see links that we follow ourselves. Somebody may exchange a folder on the way for a link after our check. Only the
// kernel can prevent that.
struct OutputTarget {
    std::string path;                     // symbolic links of the last component followed
    std::optional<int> descriptor;        // "-", /dev/stdout, /dev/fd/N: open already, used at its present offset
    std::optional<struct stat> existing;  // absent: nothing is there yet

    // A regular file or none: a rename may put another file in its place.
    [[nodiscard]] bool replaceable() const noexcept;
    [[nodiscard]] std::string directory() const;
};

[[nodiscard]] base::Expected<OutputTarget> find_output_target(const std::string& path);

// Opens an output that is written piece by piece under its own name: a log, a pipe, a device, an open descriptor. If
// there is no file, one is made.
//
// Errors   as find_output_target; os, as open gives them.
enum class Start { anew, at_its_end };
[[nodiscard]] base::Expected<UniqueFd> open_output(const std::string& path, Start start);

// Whether two paths lead to one regular file: by device and inode if it exists, else by its folder and name. Pipes and
// devices never count as the same, since several may write to them.
[[nodiscard]] bool is_same_output(const std::string& one, const std::string& other);

// Replaces files: whatever happens in between, a file is the old one or the new one, and whole.
//
// Errors   io: `where` is the path, the message names the cause ("cannot write: No space left on device").
// Threads  any number; of two that write one path, the later wins.
// Ownership  neither a failure nor a stop signal leaves anything behind. If SIGKILL leaves a file, the next write to
//            that directory removes it (left_behind.hpp).

// A content too long for memory. It hands over its pieces in order, until one is not taken.
using PieceTaker = std::function<bool(std::string_view)>;
using Content = std::function<void(const PieceTaker&)>;

// Writes a new file in the same directory, flushes it to the disk and renames it over `path`.
//
// The new file has the permissions of the file that it replaces, and its owner if that is allowed. Without such a file
// it has the permissions that the umask leaves. A write-protected file is refused, as by a plain write. A symbolic link
// stays, and its target is replaced. A pipe or a device is written straight through; "-", /dev/stdout, /dev/stderr and
// /dev/fd/N are the descriptors themselves.
//
// Existing::keep: a file that exists, or appears meanwhile, stays, and the error's message says so.
enum class Existing { replace, keep };
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, const Content& content,
                                                         Existing existing = Existing::replace);
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, std::string_view content);

// Shows that write_file_atomically is going to work, before hours are spent on the content. It makes missing
// directories, makes a temporary file and reserves `expected_bytes` for it. On success the directories stay, and
// nothing else does. It does not touch an existing file.
[[nodiscard]] base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes);

// Takes over the permissions of the file that is going to be replaced, and its owner if that is allowed. Returns the
// errno, or 0.
[[nodiscard]] int take_mode_of(int file, const struct stat& other) noexcept;

// A file under a temporary name. It is renamed to its real name, or removed.
//
// Errors   the errno of the call that failed, 0 for success: the caller knows which path to name.
// Ownership  removed by the destructor unless it has been renamed; else as with write_file_atomically.
class TempFile {
  public:
    // Empty with errno set when it cannot be made. Its mode is what the umask leaves of rw-rw-rw-.
    [[nodiscard]] static std::optional<TempFile> create_in(const std::string& directory);

    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    TempFile(TempFile&& other) noexcept;
    TempFile& operator=(TempFile&&) = delete;
    ~TempFile();

    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept;
    [[nodiscard]] int write(std::string_view content) noexcept;
    [[nodiscard]] int reserve(std::uint64_t bytes) noexcept;  // room on the disk that others can no longer take
    // Flushes the file to the disk, then renames it. Existing::keep: EEXIST if a file exists.
    [[nodiscard]] int commit_as(const std::string& path, Existing existing = Existing::replace) noexcept;

  private:
    TempFile(std::string path, RemovedAtStop at_stop, UniqueFd file) noexcept;

    std::string path_;
    RemovedAtStop at_stop_;  // is destroyed after ~TempFile has unlinked the name
    UniqueFd file_;
};

}  // namespace memsweep::sys
