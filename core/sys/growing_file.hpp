// A file that is worth keeping before it is whole: it grows piece by piece under a temporary name, and takes its final
// name at the end.
//
// Errors   the errno of the call that failed, 0 for success: the caller knows which path to name.
// Ownership  the file stays, whatever becomes of this object.
// Threads  one at a time.
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
    // Empty with errno set when it cannot be made, or is there already. Its mode is what the umask leaves of rw-rw-rw-.
    [[nodiscard]] static std::optional<GrowingFile> create(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // Appends the content whole or, after an error, not at all. The kernel begins to write each MiB to the disk as soon
    // as it is full, so that little is left to wait for at the end.
    [[nodiscard]] int append(std::string_view content) noexcept;
    // Writes over the beginning.
    [[nodiscard]] int overwrite(std::string_view content) noexcept;
    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept { return sys::take_mode_of(file_.get(), other); }
    // Flushes the file to the disk, then gives it that name too, in place of an existing file. Returns EXDEV on another
    // file system. If the file system has no hard links, the file then has that name alone.
    [[nodiscard]] int appear_as(const std::string& path);

  private:
    GrowingFile(std::string path, UniqueFd file) noexcept : path_{std::move(path)}, file_{std::move(file)} {}

    std::string path_;
    UniqueFd file_;
    std::uint64_t bytes_{};
    std::uint64_t begun_to_flush_{};
};

}  // namespace memsweep::sys
