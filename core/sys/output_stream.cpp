#include "core/sys/output_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "core/sys/signals.hpp"

namespace memsweep::sys {
namespace {

constexpr int look_for_signals_ms = 50;
constexpr int patience_after_stop_ms = 2'000;

// Whether waiting for a reader ends: asked after every look. Who was told to stop while it still measured writes what
// it has, but gives up where nobody takes any of it in.
class Patience {
  public:
    [[nodiscard]] bool is_over() noexcept
    {
        waited_ms_ += look_for_signals_ms;
        return stop_signal_waits() || (stop_signal_taken() && waited_ms_ > patience_after_stop_ms);
    }

  private:
    int waited_ms_{};
};

// A stop signal is held back while something is measured, and would end no write(2) that waits for a reader. So the
// waiting is done here, where it can be seen. The errno, or 0 when there is room.
int wait_for_room(int fd) noexcept
{
    pollfd one{.fd = fd, .events = POLLOUT, .revents = 0};
    for (Patience patience;;) {
        const int ready = ::poll(&one, 1, look_for_signals_ms);
        if (ready > 0) {
            return 0;  // errors too: the write says which
        }
        if (ready < 0 && errno != EINTR) {
            return errno;
        }
        if (patience.is_over()) {
            return EINTR;
        }
    }
}

}  // namespace

UniqueFd open_stream(const std::string& path) noexcept
{
    // Without a reader O_NONBLOCK fails with ENXIO where it would wait otherwise: see fifo(7).
    for (Patience patience;;) {
        UniqueFd file{
            retry_interrupted([&] { return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC); })};
        if (file.valid()) {
            ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
            return file;
        }
        struct stat found {};
        if (errno != ENXIO || ::stat(path.c_str(), &found) != 0 || !S_ISFIFO(found.st_mode)) {
            return file;
        }
        if (patience.is_over()) {
            errno = EINTR;
            return file;
        }
        ::poll(nullptr, 0, look_for_signals_ms);
    }
}

int write_all(int fd, std::string_view content) noexcept
{
    const NoFileSizeSignal quiet;
    struct stat target {};
    const bool is_file = ::fstat(fd, &target) == 0 && S_ISREG(target.st_mode);
    while (!content.empty()) {
        if (const int error = is_file ? 0 : wait_for_room(fd); error != 0) {
            return error;
        }
        // A pipe with any room takes PIPE_BUF bytes without waiting.
        const std::string_view piece = content.substr(0, is_file ? content.size() : PIPE_BUF);
        const ssize_t written = retry_interrupted([&] { return ::write(fd, piece.data(), piece.size()); });
        if (written < 0) {
            return errno;
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace memsweep::sys
