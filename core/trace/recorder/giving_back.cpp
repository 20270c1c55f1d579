#include "core/trace/recorder/giving_back.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/trace/format/given_back.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"
#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr std::uint64_t child_signal = 1ULL << (SIGCHLD - 1);

std::uint64_t anonymous_bytes() noexcept
{
    const long file = kernel(SYS_openat, AT_FDCWD, "/proc/thread-self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    std::array<char, 4096> text{};
    const long length = kernel(SYS_read, file, text.data(), text.size() - 1);
    kernel(SYS_close, file);
    constexpr const char* name = "\nAnonymous:";
    const char* at = length > 0 ? std::strstr(text.data(), name) : nullptr;
    if (at == nullptr) {
        return 0;
    }
    at += std::strlen(name);
    at += std::strspn(at, " ");
    std::uint64_t kilobytes = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return kilobytes << 10U;
}

// Under that process's name.
void leave_answer(long process, const char* text) noexcept
{
    const char* const folder = recording_folder();
    std::array<char, max_path_bytes> path;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    if (folder == nullptr || !make_path(path, folder, static_cast<std::uint32_t>(process), 0, given_back_ending)) {
        return;
    }
    const long file = kernel(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        kernel(SYS_write, file, text, std::strlen(text));
        kernel(SYS_close, file);
    }
}

// What was done by the processes that this one has waited for.
struct Children {
    unsigned long long page_faults{};
    unsigned long long peak_kib{};
};

Children children() noexcept
{
    rusage usage{};
    kernel(SYS_getrusage, RUSAGE_CHILDREN, &usage);
    return {static_cast<unsigned long long>(usage.ru_minflt + usage.ru_majflt),
            static_cast<unsigned long long>(usage.ru_maxrss)};
}

// `first`: the first line.
void leave_answer(long process, const char* first, const Children& done) noexcept
{
    std::array<char, 192> text{};
    std::snprintf(text.data(), text.size(), "%s\n%s %llu %llu\n", first, given_back_children, done.page_faults,
                  done.peak_kib);
    leave_answer(process, text.data());
}

void leave_answer(const char* word, int problem, const Children& done) noexcept
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s %d", word, problem);
    leave_answer(kernel(SYS_getpid), text.data(), done);
}

using MallctlCall = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
using CollectCall = void (*)(bool);
using ReleaseCall = void (*)();

struct Allocator {
    MallctlCall mallctl;
    CollectCall collect;
    ReleaseCall release;
};

// In the copy alone: a search that fails may allocate.
Allocator allocator() noexcept
{
    return {reinterpret_cast<MallctlCall>(::dlsym(RTLD_DEFAULT, "mallctl")),
            reinterpret_cast<CollectCall>(::dlsym(RTLD_DEFAULT, "mi_collect")),
            reinterpret_cast<ReleaseCall>(::dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory"))};
}

const char* ask(const Allocator& served_by) noexcept
{
    if (served_by.mallctl != nullptr) {
        served_by.mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        served_by.mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
        return "arena.4096.purge";
    }
    if (served_by.collect != nullptr) {
        served_by.collect(true);
        return "mi_collect";
    }
    if (served_by.release != nullptr) {
        served_by.release();
        return "ReleaseFreeMemory";
    }
    ::malloc_trim(0);
    return "malloc_trim";
}

[[noreturn]] void try_in_copy(const Children& done) noexcept
{
    go_without_log(LogState::ignored);
    const Allocator served_by = allocator();
    const std::uint64_t before = anonymous_bytes();
    const char* const request = ask(served_by);
    const std::uint64_t after = anonymous_bytes();
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(), "%s %llu %llu", request, static_cast<unsigned long long>(before),
                  static_cast<unsigned long long>(after));
    leave_answer(kernel(SYS_getppid), text.data(), done);
    for (;;) {
        kernel(SYS_exit_group, 0);
    }
}

// False: it had to be ended.
bool wait_for(pid_t copy) noexcept
{
    constexpr int most_looks = 10'000;
    constexpr timespec pause{0, 1'000'000};
    for (int looks = 0; looks < most_looks; ++looks) {
        const long ended = kernel(SYS_wait4, copy, nullptr, WNOHANG | __WALL, nullptr);
        if (ended != 0 && ended != -EINTR) {
            return true;  // or somebody else has waited for it
        }
        kernel(SYS_nanosleep, &pause, nullptr);
    }
    kernel(SYS_kill, copy, SIGKILL);
    kernel(SYS_wait4, copy, nullptr, __WALL, nullptr);
    return false;
}

}  // namespace

void try_giving_back() noexcept
{
    const int error = errno;
    const SignalsBlocked blocked;
    std::uint64_t pending = 0;
    kernel(SYS_rt_sigpending, &pending, sizeof pending);
    const Children done = children();
    const pid_t copy = ::fork();
    if (copy == 0) {
        try_in_copy(done);
    }
    if (copy < 0) {
        leave_answer(given_back_refused, errno, done);
    } else if (!wait_for(copy)) {
        leave_answer(given_back_late, 0, done);
    }
    if ((pending & child_signal) == 0) {
        constexpr timespec at_once{};
        kernel(SYS_rt_sigtimedwait, &child_signal, nullptr, &at_once, sizeof child_signal);
    }
    errno = error;
}

}  // namespace memsweep::trace::recorder
