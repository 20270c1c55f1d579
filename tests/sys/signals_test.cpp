#include "core/sys/signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/trap_handlers.hpp"
#include "tests/sys/disposition.hpp"

using namespace memsweep;

namespace {

bool is_blocked(int signal)
{
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
}

bool readable(int fd)
{
    pollfd waited{fd, POLLIN, 0};
    return ::poll(&waited, 1, 0) == 1;
}

}  // namespace

TEST_CASE("stop signals are held back and can be asked for", "[machine]")
{
    const tests::Disposition interrupt{SIGINT, SIG_DFL};
    const tests::Disposition hang_up{SIGHUP, SIG_DFL};
    {
        const sys::StopSignals signals;
        CHECK(is_blocked(SIGINT));
        CHECK(is_blocked(SIGTERM));
        CHECK(is_blocked(SIGHUP));
        CHECK_FALSE(is_blocked(SIGQUIT));
        CHECK_FALSE(signals.pending());
        CHECK(signals.last() == 0);
        CHECK_FALSE(readable(signals.fd()));

        ::kill(::getpid(), SIGTERM);
        CHECK(readable(signals.fd()));
        CHECK(signals.pending() == SIGTERM);
        CHECK(signals.last() == SIGTERM);
        CHECK_FALSE(signals.pending());
        CHECK(signals.last() == SIGTERM);
        CHECK_FALSE(readable(signals.fd()));

        ::kill(::getpid(), SIGINT);
        ::kill(::getpid(), SIGHUP);
        const auto one = signals.pending();
        const auto other = signals.pending();
        REQUIRE((one && other));
        CHECK(*one + *other == SIGINT + SIGHUP);
        CHECK(signals.last() == *other);
    }
    CHECK_FALSE(is_blocked(SIGINT));
    CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("a signal that was blocked before stays blocked afterwards", "[machine]")
{
    sigset_t only_term;
    sigset_t before;
    sigemptyset(&only_term);
    sigaddset(&only_term, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &only_term, &before);
    {
        const sys::StopSignals signals;
    }
    CHECK(is_blocked(SIGTERM));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("what nohup ignores does not stop us", "[machine]")
{
    const tests::Disposition ignored{SIGHUP, SIG_IGN};
    const sys::StopSignals signals;
    CHECK_FALSE(is_blocked(SIGHUP));
    ::kill(::getpid(), SIGHUP);
    CHECK_FALSE(signals.pending());
}

TEST_CASE("a signal that nobody asked for takes effect in the end", "[machine]")
{
    static volatile sig_atomic_t caught;
    caught = 0;
    const tests::Disposition noted{SIGTERM, [](int) { caught = 1; }};
    {
        const sys::StopSignals signals;
        ::kill(::getpid(), SIGTERM);
        CHECK(caught == 0);
    }
    CHECK(caught == 1);
}

// Traps: where a fault was, in which thread, and what happens to one outside of any trap.

namespace memsweep::sys {
namespace {

constexpr std::size_t page = 4096;

// One page that nobody may touch.
class Closed {
  public:
    Closed() : start_{::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {}
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;
    ~Closed() { ::munmap(start_, page); }
    [[nodiscard]] volatile char* at(std::size_t offset) const { return static_cast<volatile char*>(start_) + offset; }

  private:
    void* start_;
};

Trapped touch(volatile char* at)
{
    return trapped([at] { *at = 1; });
}

}  // namespace

TEST_CASE("code that faults nowhere runs to its end", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    int runs = 0;
    for (int i = 0; i < 1000; ++i) {
        const Trapped result = trapped([&runs] { ++runs; });
        CHECK_FALSE(result.faulted);
        CHECK(result.address == nullptr);
    }
    CHECK(runs == 1000);
}

TEST_CASE("a fault says which address was touched, reading or writing, again and again", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    const Closed closed;
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{2049}, page - 1}) {
        const Trapped written = touch(closed.at(offset));
        CHECK(written.faulted);
        CHECK(written.address == const_cast<const char*>(closed.at(offset)));
        char seen = 0;
        const Trapped read = trapped([&] { seen = *closed.at(offset); });
        CHECK(read.faulted);
        CHECK(read.address == const_cast<const char*>(closed.at(offset)));
    }
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(touch(closed.at(0)).faulted);
    }
}

TEST_CASE("what stands behind the fault does not run", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    const Closed closed;
    volatile int reached = 0;
    const Trapped result = trapped([&] {
        reached = 1;
        *closed.at(0) = 1;
        reached = 2;
    });
    CHECK(result.faulted);
    CHECK(reached == 1);
}

TEST_CASE("traps nest: each takes its own fault and leaves the outer one set", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    const Closed closed;
    Trapped inner;
    Trapped quiet;
    const Trapped outer = trapped([&] {
        inner = touch(closed.at(10));
        quiet = trapped([] {});
        *closed.at(20) = 1;
    });
    CHECK(inner.faulted);
    CHECK(inner.address == const_cast<const char*>(closed.at(10)));
    CHECK_FALSE(quiet.faulted);
    CHECK(outer.faulted);
    CHECK(outer.address == const_cast<const char*>(closed.at(20)));
    const Trapped only_inner = trapped([&] { inner = touch(closed.at(30)); });
    CHECK(inner.address == const_cast<const char*>(closed.at(30)));
    CHECK_FALSE(only_inner.faulted);
}

TEST_CASE("eight threads trap their own faults", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    const Closed closed;
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < 8; ++number) {
        threads.emplace_back([&, number] {
            for (std::size_t i = 0; i < 500; ++i) {
                volatile char* const at = closed.at(number * 500 + i);
                const Trapped faulted = touch(at);
                const Trapped quiet = trapped([] {});
                right += faulted.faulted && faulted.address == const_cast<const char*>(at) && !quiet.faulted ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(right == 4000);
}

TEST_CASE("memory behind the end of its file is trapped like any other", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    const int file = ::memfd_create("memsweep-test", 0);
    REQUIRE(file >= 0);
    void* const start = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(start != MAP_FAILED);
    CHECK(touch(static_cast<volatile char*>(start)).faulted);  // SIGBUS
    REQUIRE(::ftruncate(file, page) == 0);
    CHECK_FALSE(touch(static_cast<volatile char*>(start)).faulted);
    ::munmap(start, page);
    ::close(file);
}

TEST_CASE("a fault outside of any trap ends the process as it would have", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    if (tests::sanitized) {
        std::cout << "skipped: a fault outside of any trap: a sanitizer reports it and exits\n";
        return;
    }
    for (const bool trapped_before : {false, true}) {
        const pid_t child = ::fork();
        if (child == 0) {
            static_cast<void>(::freopen("/dev/null", "w", stderr));
            static_cast<void>(::freopen("/dev/null", "w", stdout));
            std::signal(SIGSEGV, SIG_DFL);
            const Closed closed;
            if (trapped_before) {
                static_cast<void>(touch(closed.at(0)));
            }
            *closed.at(0) = 1;
            ::_exit(0);
        }
        int status{};
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == SIGSEGV);
    }
}

}  // namespace memsweep::sys
