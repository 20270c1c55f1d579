#include "core/sys/signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
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
