// Output files: where their paths lead, and how they are written whole or not at all.
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

// Where an output path leads: to a file that can be replaced, or to something that can only be written to.
//
// Errors   io: the path names a directory or nothing, its links go in circles, or a parent cannot be searched; somebody
//          else may have planted what it leads over (below). `where` is the path as given.
//
// In a sticky folder that others may write to (/tmp), a link, a file or a pipe that belongs neither to us nor to the
// folder's owner is refused: it may have been put there for us to write through. This is the rule of the kernel's
// fs.protected_symlinks, _regular and _fifos (proc_sys_fs(5)), which are not on everywhere, and see no link that we
// follow. A folder on the way that is exchanged for a link between our look and the use is left to the kernel.
struct OutputTarget {
    std::string path;                     // symbolic links of the last component followed
    std::optional<int> descriptor;        // "-", /dev/stdout, /dev/fd/N: what is open already, at its present offset
    std::optional<struct stat> existing;  // absent: nothing is there yet

    // A regular file or none: what a rename may put another file in the place of.
    [[nodiscard]] bool replaceable() const noexcept;
    [[nodiscard]] std::string directory() const;
};

[[nodiscard]] base::Expected<OutputTarget> find_output_target(const std::string& path);

// Opens what is written to piece by piece under its own name: a log, a pipe, a device, a descriptor that is open. A
// file is made where there is none.
//
// Errors   as find_output_target; os, as open gives them.
enum class Start { anew, at_its_end };
[[nodiscard]] base::Expected<UniqueFd> open_output(const std::string& path, Start start);

// Whether two paths lead to one regular file: by device and inode where it is there, else by its folder and name.
// Pipes and devices take what several write.
[[nodiscard]] bool is_same_output(const std::string& one, const std::string& other);

// Files that are either the old ones or the new ones, whole, whatever happens in between.
//
// Errors   io: `where` is the path, the message names the cause ("cannot write: No space left on device").
// Threads  any number; of two that write one path, the later wins.
// Ownership  neither a failure nor a stop signal leaves anything behind; what a SIGKILL leaves goes when a file is next
//            written to that directory (left_behind.hpp).

// A content too long for memory: hands over its pieces in order, until one is not taken.
using PieceTaker = std::function<bool(std::string_view)>;
using Content = std::function<void(const PieceTaker&)>;

// Writes a new file in the same directory, flushes it to the disk and renames it over `path`. It has the permissions
// of the file it replaces (whose owner it keeps where that is allowed), or those that the umask leaves; a file that is
// write-protected is refused, as a plain write would. A symbolic link stays, and what it points at is replaced. What is
// no regular file (a pipe, a device) is written straight through; "-", /dev/stdout, /dev/stderr and /dev/fd/N are the
// descriptors themselves.
//
// Existing::keep: a file that is there, or comes to be there meanwhile, stays, and the error's message says so.
enum class Existing { replace, keep };
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, const Content& content,
                                                         Existing existing = Existing::replace);
[[nodiscard]] base::Expected<void> write_file_atomically(const std::string& path, std::string_view content);

// Shows that write_file_atomically is going to work, before hours are spent on what it is to write: makes missing
// directories (the one thing that stays, on success), makes a temporary file and reserves `expected_bytes` for it.
// An existing file is not touched.
[[nodiscard]] base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes);

// The permissions of the file that is going to be replaced, and its owner where that is allowed. The errno, or 0.
[[nodiscard]] int take_mode_of(int file, const struct stat& other) noexcept;

// A file under a name of its own that becomes the real one by rename, or vanishes.
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
    // Puts the file on the disk, then renames it. Existing::keep: EEXIST where a file is there.
    [[nodiscard]] int commit_as(const std::string& path, Existing existing = Existing::replace) noexcept;

  private:
    TempFile(std::string path, RemovedAtStop at_stop, UniqueFd file) noexcept;

    std::string path_;
    RemovedAtStop at_stop_;  // goes after the name
    UniqueFd file_;
};

}  // namespace memsweep::sys
