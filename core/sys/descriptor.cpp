#include "core/sys/descriptor.hpp"

#include <algorithm>

#include <poll.h>

#include "core/sys/clock.hpp"

namespace memsweep::sys {
namespace {

using std::chrono::nanoseconds;

// Longer waits than this are no different, and adding them to the clock cannot overflow.
constexpr nanoseconds longest_wait = std::chrono::hours{24 * 365};

}  // namespace

base::Expected<bool> wait_readable(int fd, std::optional<nanoseconds> timeout) noexcept
{
    const SystemClock clock;
    const nanoseconds deadline =
        timeout ? clock.now() + std::clamp(*timeout, nanoseconds{0}, longest_wait) : nanoseconds{0};
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    while (true) {
        timespec left{};
        if (timeout) {
            left = to_timespec(std::max(deadline - clock.now(), nanoseconds{0}));
        }
        const int ready = ::ppoll(&waited, 1, timeout ? &left : nullptr, nullptr);
        if (ready >= 0) {
            return ready > 0;
        }
        if (errno != EINTR) {
            return base::fail(base::os_error("poll", errno));
        }
    }
}

}  // namespace memsweep::sys
