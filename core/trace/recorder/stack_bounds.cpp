#include "core/trace/recorder/stack_bounds.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// One line of /proc/self/maps after the other, in the room given.
class Mappings {
  public:
    explicit Mappings(std::span<char> room) noexcept
        : room_{room.data()}, bytes_{room.size()},
          fd_{kernel(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)}
    {
    }
    Mappings(const Mappings&) = delete;
    Mappings& operator=(const Mappings&) = delete;
    ~Mappings()
    {
        if (fd_ >= 0) {
            kernel(SYS_close, fd_);
        }
    }

    bool next(Bounds& bounds, bool& is_main_stack) noexcept
    {
        const auto* end = static_cast<const char*>(std::memchr(room_ + at_, '\n', filled_ - at_));
        if (end == nullptr) {
            std::memmove(room_, room_ + at_, filled_ - at_);
            filled_ -= at_;
            at_ = 0;
            for (long got = 1; got > 0 && filled_ < bytes_ && end == nullptr;) {
                got = fd_ < 0 ? 0 : kernel(SYS_read, fd_, room_ + filled_, bytes_ - filled_);
                filled_ += got > 0 ? static_cast<std::size_t>(got) : 0;
                end = static_cast<const char*>(std::memchr(room_, '\n', filled_));
            }
            if (end == nullptr) {
                return false;
            }
        }
        const char* at = room_ + at_;
        bounds.low = take_hexadecimal(at);
        ++at;
        bounds.high = take_hexadecimal(at);
        constexpr std::size_t length = 7;
        is_main_stack =
            end - at > static_cast<std::ptrdiff_t>(length) && std::memcmp(end - length, "[stack]", length) == 0;
        at_ = static_cast<std::size_t>(end - room_) + 1;
        return true;
    }

  private:
    static std::uint64_t take_hexadecimal(const char*& at) noexcept
    {
        std::uint64_t number = 0;
        for (;; ++at) {
            const char digit = *at;
            if (digit >= '0' && digit <= '9') {
                number = number << 4U | static_cast<std::uint64_t>(digit - '0');
            } else if (digit >= 'a' && digit <= 'f') {
                number = number << 4U | static_cast<std::uint64_t>(digit - 'a' + 10);
            } else {
                return number;
            }
        }
    }

    char* room_;
    std::size_t bytes_;
    long fd_;
    std::size_t at_{};
    std::size_t filled_{};
};

// Empty: it lies in none that is known.
Bounds mapping_of(std::uint64_t address, std::span<char> room) noexcept
{
    Mappings mappings{room};
    Bounds found;
    bool is_main_stack = false;
    while (mappings.next(found, is_main_stack)) {
        if (found.holds(address)) {
            if (is_main_stack) {  // it grows
                rlimit limit{};
                constexpr std::uint64_t most = 1ULL << 30U;
                const bool is_known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
                found.low =
                    std::min(found.low, found.high - std::min<std::uint64_t>(is_known ? limit.rlim_cur : 0, most));
            }
            return found;
        }
    }
    return {};
}

bool is_mapped(std::uint64_t from, std::uint64_t to) noexcept
{
    std::array<unsigned char, 64> states{};
    constexpr std::uint64_t page = 4096;
    from = from / page * page;
    return to - from <= states.size() * page && kernel(SYS_mincore, from, to - from, states.data()) == 0;
}

// Whether the thread is on its signals' stack, which is then told.
bool is_on(stack_t& signal_stack) noexcept
{
    return kernel(SYS_sigaltstack, nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

bool is_on_signal_stack() noexcept
{
    stack_t signal_stack{};
    return is_on(signal_stack);
}

// Above the frames of a thread lies what the C library keeps of it; what is mapped behind may be another's.
Bounds thread_bounds(std::uint64_t at, std::span<char> room) noexcept
{
    Bounds bounds = mapping_of(at, room);
    const auto own_data = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    if (bounds.holds(own_data) && own_data > at) {
        bounds.high = own_data;
    }
    return bounds;
}

Bounds other_bounds(Bounds& mapping, std::uint64_t at, std::span<char> room) noexcept
{
    stack_t signal_stack{};
    if (is_on(signal_stack)) {
        const auto low = reinterpret_cast<std::uint64_t>(signal_stack.ss_sp);
        const Bounds bounds{low, low + signal_stack.ss_size};
        if (bounds.holds(at)) {
            return bounds;
        }
    }
    if (!mapping.holds(at)) {
        mapping = mapping_of(at, room);
    }
    constexpr std::uint64_t most = std::uint64_t{60} * 4096;
    const Bounds bounds{at, std::min(mapping.high, at + most)};
    return mapping.holds(at) && is_mapped(at, bounds.high) ? bounds : Bounds{};
}

}  // namespace memsweep::trace::recorder
