// A file under a name of its own that becomes the real one by rename, or vanishes.
//
// Errors   the errno of the call that failed, 0 for success: the caller knows which path to name.
// Ownership  removed by the destructor unless it has been renamed. A SIGKILL in between leaves ".memsweep-*.partial".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

class TempFile {
  public:
    // Empty with errno set when it cannot be made. Its mode is what the umask leaves of rw-rw-rw-.
    [[nodiscard]] static std::optional<TempFile> create_in(const std::string& directory);

    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    TempFile(TempFile&& other) noexcept;
    TempFile& operator=(TempFile&&) = delete;
    ~TempFile();

    // The permissions of the file that is going to be replaced, and its owner where that is allowed.
    [[nodiscard]] int take_mode_of(const struct stat& other) noexcept;
    [[nodiscard]] int write(std::string_view content) noexcept;
    [[nodiscard]] int reserve(std::uint64_t bytes) noexcept;        // room on the disk that others can no longer take
    [[nodiscard]] int commit_as(const std::string& path) noexcept;  // on the disk, then renamed

  private:
    TempFile(std::string path, UniqueFd file) noexcept;

    std::string path_;
    UniqueFd file_;
};

// All of `content`, whatever parts the kernel takes it in; the errno, or 0. Beyond a file size limit (RLIMIT_FSIZE) it
// is EFBIG rather than the signal that would end the process.
[[nodiscard]] int write_all(int fd, std::string_view content) noexcept;

}  // namespace memsweep::sys
