// Temporary files and folders with recognizable names. The process that makes a file or folder also removes it. If a
// stop signal ends this process, a signal handler removes the file. If SIGKILL ends this process, the next process that
// makes a temporary file in the same folder removes the old file.
//
// Names    PassingShape::before, the boot id and "-" (if tells_boot), a random hexadecimal number, PassingShape::after.
//          For example ".memsweep-BOOT-NUMBER.partial".
// Sources  flock(2): the process that made the file or folder holds a lock on it. If another process can take the lock,
//          the maker has ended. On a network file system, another machine may not see the lock. So on a network file
//          system, only files and folders whose names have the boot id of this machine are removed.
//          On every file system, a folder is removed only if no other user can rename it.
// Errors   none: a file is left alone if it cannot be locked, belongs to another user, or is a link or a special file.
// Threads  any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

struct PassingShape {
    std::string_view before;
    std::string_view after;
    bool tells_boot{true};   // the name contains the boot id
    std::size_t digits{16};  // digits of the random number
};
inline constexpr PassingShape partial_files{".memsweep-", ".partial"};

[[nodiscard]] std::string new_passing_name(const PassingShape& shape);

// Locks a file that the caller has just made. The lock lasts as long as the descriptor `file` is open. False: another
// process is removing the file, so make another one. If the file system has no locks, the result is true.
[[nodiscard]] bool hold_passing(int file) noexcept;

// Removes from `folder` the files and folders of this shape whose maker (the process that made them) has ended. Later
// calls for the same folder and the same `shape.before` do nothing, because the folder may be large.
void remove_left_behind(const std::string& folder, const PassingShape& shape);

// Removes the shared memory /dev/shm/memsweep-PID-... that no process has open or mapped.
void remove_left_shared_memory();

// A path that is unlinked if SIGINT, SIGTERM or SIGHUP ends this process. Signals that are ignored or have a handler
// are left alone. Construct this before making the file, and destroy it after the file was renamed or removed.
class RemovedAtStop {
  public:
    explicit RemovedAtStop(const std::string& path) noexcept;
    RemovedAtStop(const RemovedAtStop&) = delete;
    RemovedAtStop& operator=(const RemovedAtStop&) = delete;
    RemovedAtStop(RemovedAtStop&& other) noexcept : slot_{std::exchange(other.slot_, -1)} {}
    RemovedAtStop& operator=(RemovedAtStop&&) = delete;
    ~RemovedAtStop();

  private:
    int slot_{-1};
};

// A temporary folder inside parent(). The destructor removes it and its contents.
class PassingFolder {
  public:
    // Absent, with errno set: the folder cannot be made.
    [[nodiscard]] static std::optional<PassingFolder> make(const PassingShape& shape);
    PassingFolder(const PassingFolder&) = delete;
    PassingFolder& operator=(const PassingFolder&) = delete;
    PassingFolder(PassingFolder&& other) noexcept
        : path_{std::exchange(other.path_, std::string{})}, held_{std::move(other.held_)}
    {
    }
    PassingFolder& operator=(PassingFolder&&) = delete;
    ~PassingFolder();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // The folder for temporary folders: $TMPDIR, or /tmp.
    [[nodiscard]] static std::string parent();

  private:
    PassingFolder(std::string path, UniqueFd held) noexcept : path_{std::move(path)}, held_{std::move(held)} {}

    std::string path_;
    UniqueFd held_;
};

}  // namespace memsweep::sys
