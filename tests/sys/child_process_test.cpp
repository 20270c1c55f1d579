#include "core/sys/child_process.hpp"

#include <array>
#include <csignal>
#include <string>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sys/clock.hpp"
#include "core/sys/interprocess.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/disposition.hpp"
#include "tests/sys/helper_role.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

sys::ExitStatus status_of(const sys::SpawnOptions& options)
{
    auto child = sys::ChildProcess::spawn(options);
    REQUIRE(child);
    const auto status = child->wait_for(60s);
    REQUIRE(status);
    return *status;
}

bool ends_within(int pidfd, int milliseconds)
{
    pollfd waited{pidfd, POLLIN, 0};
    return ::poll(&waited, 1, milliseconds) == 1;
}

}  // namespace

TEST_CASE("a status is described in words", "[unit]")
{
    CHECK(sys::ExitStatus{}.describe() == "exit code 0");
    CHECK(sys::ExitStatus{}.success());
    CHECK(sys::ExitStatus{.code = 3}.describe() == "exit code 3");
    CHECK_FALSE(sys::ExitStatus{.code = 3}.success());
    CHECK(sys::ExitStatus{.signal = SIGKILL}.describe() == "killed by signal 9 (SIGKILL)");
    CHECK(sys::ExitStatus{.signal = SIGSEGV}.describe() == "killed by signal 11 (SIGSEGV)");
    CHECK_FALSE(sys::ExitStatus{.signal = SIGKILL}.success());
    CHECK(sys::ExitStatus{.signal = 40}.describe() == "killed by signal 40");
    CHECK(sys::ExitStatus{.code = -1}.describe() == "ended, its exit code unknown");
}

TEST_CASE("a child's end is told apart: codes and signals", "[machine]")
{
    CHECK(status_of({.argv = {"true"}}).describe() == "exit code 0");
    CHECK(status_of(tests::shell("exit 3")).describe() == "exit code 3");
    CHECK(status_of(tests::shell("kill -KILL $$")).describe() == "killed by signal 9 (SIGKILL)");
    CHECK(status_of(tests::shell("kill -TERM $$")).describe() == "killed by signal 15 (SIGTERM)");
    const auto used = status_of(tests::shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
    CHECK(used.max_rss_bytes > 100'000);
    CHECK(used.minor_faults > 0);
    CHECK(used.user_cpu + used.system_cpu > 0ns);
}

TEST_CASE("waiting for a child is bounded, and its status stays", "[machine]")
{
    auto child = sys::ChildProcess::spawn({.argv = {"sleep", "60"}});
    REQUIRE(child);
    const sys::SystemClock clock;
    const auto begin = clock.now();
    CHECK_FALSE(child->try_wait());
    CHECK_FALSE(child->wait_for(20ms));
    CHECK(clock.now() - begin >= 20ms);
    CHECK_FALSE(ends_within(child->fd(), 0));
    ::kill(child->pid(), SIGTERM);
    const auto status = child->wait_for(30s);
    REQUIRE(status);
    CHECK(status->signal == SIGTERM);
    CHECK(ends_within(child->fd(), 0));
    CHECK(child->try_wait()->signal == SIGTERM);
    CHECK(child->kill_and_reap().signal == SIGTERM);
}

TEST_CASE("a child dies with the object that holds it, and so does its group", "[machine]")
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    pid_t pid = 0;
    {
        sys::SpawnOptions options = tests::shell("sleep 60 & echo started >&7; wait");
        options.inherit = {{ends->second.fd(), 7}};
        auto child = sys::ChildProcess::spawn(options);
        REQUIRE(child);
        const sys::Channel dropped = std::move(ends->second);  // so that only the child and its sleep hold that end
        std::array<char, 16> buffer{};
        CHECK(ends->first.receive(buffer, 30s)->bytes == "started\n");
        sys::ChildProcess moved{std::move(*child)};
        pid = moved.pid();
        CHECK(child->pid() == -1);
        CHECK(::kill(pid, 0) == 0);
    }
    CHECK(::kill(pid, 0) == -1);
    std::array<char, 16> buffer{};
    CHECK(ends->first.receive(buffer, 30s)->closed);  // the grandchild held it too
}

TEST_CASE("assigning a child ends the one that was there", "[machine]")
{
    auto child = sys::ChildProcess::spawn({.argv = {"sleep", "60"}});
    REQUIRE(child);
    const pid_t first = child->pid();
    auto second = sys::ChildProcess::spawn({.argv = {"sleep", "60"}});
    REQUIRE(second);
    *child = std::move(*second);
    second = base::fail(base::ErrorCode::os, "gone");
    CHECK(::kill(first, 0) == -1);
    CHECK_FALSE(child->try_wait());
    CHECK(child->kill_and_reap().signal == SIGKILL);
}

TEST_CASE("a grandchild dies when its parent is killed outright", "[machine]")
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    auto parent = sys::ChildProcess::spawn(tests::helper("parent", ends->second.fd()));
    REQUIRE(parent);
    std::array<char, 16> buffer{};
    const auto said = ends->first.receive(buffer, 30s);
    REQUIRE(said);
    const pid_t grandchild = std::stoi(std::string{said->bytes});
    const sys::UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, grandchild, 0))};
    REQUIRE(pidfd.valid());
    CHECK_FALSE(ends_within(pidfd.get(), 20));
    ::kill(parent->pid(), SIGKILL);  // it alone, not its group: and the grandchild is in a group of its own
    CHECK(parent->wait_for(30s)->signal == SIGKILL);
    const bool ended = ends_within(pidfd.get(), 30'000);
    CHECK(ended);
    if (!ended) {
        ::kill(grandchild, SIGKILL);
    }
}

TEST_CASE("a status that somebody else has taken is unknown, not a hang", "[machine]")
{
    const tests::Disposition ignored{SIGCHLD, SIG_IGN};  // then the kernel reaps
    for (int i = 0; i < 20; ++i) {
        auto child = sys::ChildProcess::spawn({.argv = {"true"}});
        REQUIRE(child);
        const auto status = child->wait_for(30s);
        REQUIRE(status);
        CHECK(status->code == -1);
    }
}
