#include "core/sys/signals.hpp"

#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <mutex>

#include "core/base/assert.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {
namespace {

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> has_taken_one{};

bool is_ignored(int signal)
{
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() noexcept
{
    sigemptyset(&stop_);
    for (const int signal : stop_signals) {
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
    has_taken_one = true;
    return signal;
}

bool stop_signal_waits() noexcept
{
    sigset_t waiting{};
    sigpending(&waiting);
    return std::ranges::any_of(stop_signals, [&](int signal) { return sigismember(&waiting, signal) == 1; });
}

bool stop_signal_taken() noexcept
{
    return has_taken_one;
}

namespace {

struct Frame {
    sigjmp_buf resume;
    const void* address{};
};

thread_local Frame* volatile current = nullptr;

struct sigaction former_segv;
struct sigaction former_bus;

void on_fault(int signal, siginfo_t* info, void* /*context*/)
{
    if (Frame* const frame = current; frame != nullptr) {
        frame->address = info->si_addr;
        siglongjmp(frame->resume, 1);  // NOLINT(cert-err52-cpp): the one way out of a fault that will not go away
    }
    // Back in the faulting instruction, the former handler (or death) takes it.
    ::sigaction(signal, signal == SIGSEGV ? &former_segv : &former_bus, nullptr);
}

void install()
{
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    const bool installed =
        ::sigaction(SIGSEGV, &action, &former_segv) == 0 && ::sigaction(SIGBUS, &action, &former_bus) == 0;
    MEMSWEEP_ASSERT(installed, "SIGSEGV and SIGBUS can be handled");
}

}  // namespace

Trapped run_trapped(void (*code)(void* context), void* context)
{
    static std::once_flag installed;
    std::call_once(installed, install);
    Frame frame;
    Frame* const outer = current;
    current = &frame;
    const bool faulted = sigsetjmp(frame.resume, 0) != 0;  // NOLINT(cert-err52-cpp): see on_fault
    if (!faulted) {
        code(context);
    }
    current = outer;
    return {faulted, frame.address};
}

}  // namespace memsweep::sys
