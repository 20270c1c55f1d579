// A file that is useful even if it is never completed. It grows under a temporary name, piece by piece, and gets its
// final name at the end.
//
// Errors   functions that return an int return 0, or the errno of the call that failed. The caller adds the path to its
//          message.
// Ownership  the destructor does not remove the file.
// Threads  only one thread at a time may use an object.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/sys/descriptor.hpp"
#include "core/sys/output_file.hpp"

namespace memsweep::sys {

class GrowingFile {
  public:
    // Makes the file, with mode rw-rw-rw- minus the umask. Absent, with errno set: the file cannot be made, or already
    // exists.
    [[nodiscard]] static std::optional<GrowingFile> create(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Appends all of `content`, or nothing if there is an error. After each MiB it asks the kernel to begin writing to
    // the disk, so that the final flush is short.
    [[nodiscard]] int append(std::string_view content) noexcept;
    // Overwrites the first bytes of the file.
    [[nodiscard]] int overwrite(std::string_view content) noexcept;
    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept { return sys::take_mode_of(file_.get(), other); }
    // Flushes the file to the disk, then makes `path` a second name of the file. If another file has the name `path`,
    // it is replaced. If the file system has no hard links, the file is renamed to `path`. Returns EXDEV if `path` is
    // on another file system.
    [[nodiscard]] int appear_as(const std::string& path);

  private:
    GrowingFile(std::string path, UniqueFd file) noexcept : path_{std::move(path)}, file_{std::move(file)} {}

    std::string path_;
    UniqueFd file_;
    std::uint64_t bytes_{};
    std::uint64_t begun_to_flush_{};
};

}  // namespace memsweep::sys
