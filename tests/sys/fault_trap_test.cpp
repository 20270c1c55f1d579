// Traps: where a fault was, in which thread, and what happens to one outside of any trap.
#include "core/sys/signals.hpp"

#include <atomic>
#include <csignal>
#include <iostream>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/trap_handlers.hpp"

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
