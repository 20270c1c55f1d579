#include "core/sys/signals.hpp"

#include <array>

#include <sys/signalfd.h>

#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

bool is_ignored(int signal)
{
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() noexcept
{
    sigemptyset(&stop_);
    for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP}) {
        if (!is_ignored(signal)) {
            sigaddset(&stop_, signal);
        }
    }
    ::pthread_sigmask(SIG_BLOCK, &stop_, &mask_before_);
    fd_.reset(::signalfd(-1, &stop_, SFD_CLOEXEC | SFD_NONBLOCK));
}

StopSignals::~StopSignals()
{
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<int> StopSignals::pending() const noexcept
{
    constexpr timespec at_once{};
    const int signal = retry_interrupted([&] { return ::sigtimedwait(&stop_, nullptr, &at_once); });
    if (signal <= 0) {
        return std::nullopt;
    }
    last_ = signal;
    return signal;
}

}  // namespace memsweep::sys
