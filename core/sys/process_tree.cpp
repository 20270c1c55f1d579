#include "core/sys/process_tree.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <set>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {
namespace {

// Takes those that have ended away; what is left of the list.
std::vector<pid_t> reaped(std::vector<pid_t> processes, Cleared& cleared)
{
    std::erase_if(processes, [&](pid_t process) {
        rusage usage{};
        const bool ended = ::wait4(process, nullptr, WNOHANG, &usage) == process;
        if (ended) {
            cleared.max_rss_bytes = std::max(cleared.max_rss_bytes, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
        }
        return ended;
    });
    return processes;
}

}  // namespace

void signal_descendants(pid_t of, int signal) noexcept
{
    for (const pid_t process : descendants_of(of)) {
        ::kill(process, signal);
    }
}

void ask_to_end(pid_t process, pid_t root) noexcept
{
    std::vector<pid_t> asked = descendants_of(root != 0 ? root : process);
    std::erase(asked, process);
    if (process != ::getpid()) {
        asked.insert(asked.begin(), process);
    }
    for (const int signal : {SIGTERM, SIGCONT}) {
        for (const pid_t one : asked) {
            ::kill(one, signal);
        }
    }
}

Cleared clear_descendants(std::chrono::nanoseconds patience) noexcept
{
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 200'000};
    Cleared cleared;
    std::set<pid_t> killed;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        const std::vector<pid_t> found = descendants_of(::getpid());
        const std::vector<pid_t> alive = reaped(found, cleared);
        cleared.processes = killed.size();
        if (found.empty()) {  // one that ended while it was listed may have handed its children on to us unseen
            return cleared;
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            cleared.survivor = found.front();
            return cleared;
        }
        for (const pid_t process : alive) {
            if (::kill(process, SIGKILL) == 0) {
                killed.insert(process);
            }
        }
        ::nanosleep(&nap, nullptr);
    }
}

}  // namespace memsweep::sys
