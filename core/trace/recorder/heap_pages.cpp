#include "core/trace/recorder/heap_pages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
constinit std::atomic<std::uint64_t> mapped_bytes{0};
constinit std::atomic<std::uint64_t> stack_bytes{0};
constinit std::atomic<bool> knows_allocator{false};
constinit LoadedObject serving_object;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// The object whose malloc is behind ours.
void find_allocator() noexcept
{
    const LoadedObject us = LoadedObject::holding(reinterpret_cast<void*>(&find_allocator));
    serving_object = LoadedObject::holding(us.definition_behind("malloc"));
    knows_allocator.store(true, std::memory_order_release);
}

// Reads a line `name:  number kB`; false: there is none.
bool read_line(const char* text, const char* name, std::uint64_t& bytes) noexcept
{
    const char* at = std::strstr(text, name);
    if (at == nullptr) {
        return false;
    }
    at += std::strlen(name);
    at += std::strspn(at, ": \t");
    std::uint64_t kilobytes = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    bytes = kilobytes << 10U;
    return true;
}

std::uint64_t data_bytes() noexcept
{
    std::uint64_t all = 0;
    LoadedObject::visit_all([&](const LoadedObject& object, const char*) {
        all += object.writable_bytes();
        return false;
    });
    return all;
}

}  // namespace

void note_mapping(const void* caller, std::size_t bytes, int flags) noexcept
{
    if (!knows_allocator.load(std::memory_order_acquire)) {
        find_allocator();
    }
    if ((flags & MAP_PRIVATE) != 0 && !serving_object.contains(caller)) {
        mapped_bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
}

void note_thread(const pthread_attr_t* attributes) noexcept
{
    std::size_t bytes = 8U << 20U;
    if (attributes != nullptr) {
        ::pthread_attr_getstacksize(attributes, &bytes);
    }
    stack_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

std::uint64_t heap_pages_bytes() noexcept
{
    const long file = kernel(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    std::array<char, 4096> text{};
    const long length = kernel(SYS_read, file, text.data(), text.size() - 1);
    kernel(SYS_close, file);
    std::uint64_t most = 0;
    std::uint64_t files = 0;
    std::uint64_t shared = 0;
    std::uint64_t stack = 0;
    if (length <= 0 || !read_line(text.data(), "VmHWM", most) || !read_line(text.data(), "RssFile", files) ||
        !read_line(text.data(), "RssShmem", shared) || !read_line(text.data(), "VmStk", stack)) {
        return 0;
    }
    const std::uint64_t explained = files + shared + stack + data_bytes() + stack_bytes + mapped_bytes;
    return most - std::min(most, explained);
}

}  // namespace memsweep::trace::recorder
