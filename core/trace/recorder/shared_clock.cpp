#include "core/trace/recorder/shared_clock.hpp"

#include <fcntl.h>

#include <cstring>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::uint32_t standing_clock{};

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::uint32_t* shared_clock = &standing_clock;

void follow_clock(const char* folder) noexcept
{
    std::array<char, max_path_bytes> path{};
    const std::size_t length = std::strlen(folder);
    if (length + std::strlen(clock_name) + 2 > path.size()) {
        return;
    }
    std::memcpy(path.data(), folder, length);
    path[length] = '/';
    std::strcpy(path.data() + length + 1, clock_name);
    const long fd = kernel(SYS_openat, AT_FDCWD, path.data(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    const long at = kernel(SYS_mmap, nullptr, clock_bytes, PROT_READ, MAP_SHARED, fd, 0);
    kernel(SYS_close, fd);
    if (at >= 0) {
        shared_clock = reinterpret_cast<std::uint32_t*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    }
}

bool follows_clock() noexcept
{
    return shared_clock != &standing_clock;
}

}  // namespace memsweep::trace::recorder
