// Temporary files and folders, under names that say so. The process that makes them removes them. A stop signal that
// ends it removes its files. If SIGKILL leaves some behind, the next process that makes one in that folder removes
// them.
//
// Names    consist of BEFORE, the boot, a random hexadecimal number and AFTER: ".memsweep-BOOT-NUMBER.partial".
// Sources  flock(2) on the file or folder: its owner holds the lock, so a process that can take it knows that there is
//          no owner. If locks may hold on one machine only (a network file system), the boot must be ours as well.
//          Folders are removed only from a folder in which nobody else can rename ours.
// Errors   none: a file stays if it cannot be locked, is another user's, a link, or of another kind.
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
    bool tells_boot{true};
    std::size_t digits{16};  // digits of the number between them
};
inline constexpr PassingShape partial_files{".memsweep-", ".partial"};

[[nodiscard]] std::string new_passing_name(const PassingShape& shape);

// The owner calls this as soon as the file is made. The lock lasts as long as the descriptor `file` is open. False:
// somebody is removing the file, so make another. True also if the file system has no locks.
[[nodiscard]] bool hold_passing(int file) noexcept;

// Removes files and whole folders that nobody holds. It has to list the folder, so it does this only once per process
// for each folder and shape.
void remove_left_behind(const std::string& folder, const PassingShape& shape);

// Removes shared memory /dev/shm/memsweep-PID-... that nobody holds. A process holds it as long as it has it mapped.
void remove_left_shared_memory();

// A path that a stop signal unlinks before it ends this process (SIGINT, SIGTERM and SIGHUP, if they have their default
// effect). Make it before the file, and destroy it after the file's name is gone.
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

// A folder inside parent(). The destructor removes it with all that is in it.
class PassingFolder {
  public:
    // Empty with errno set when it cannot be made.
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
    // The folder in which such folders are made: $TMPDIR, or /tmp.
    [[nodiscard]] static std::string parent();

  private:
    PassingFolder(std::string path, UniqueFd held) noexcept : path_{std::move(path)}, held_{std::move(held)} {}

    std::string path_;
    UniqueFd held_;
};

}  // namespace memsweep::sys
