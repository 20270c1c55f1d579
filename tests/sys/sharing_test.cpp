// Shared memory with a second process: every byte arrives, nothing stays behind, and what cannot be had is said.
#include <filesystem>
#include <string>

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/sharing.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::sys {
namespace {

std::size_t names_left()
{
    const std::string prefix = "memsweep-" + std::to_string(::getpid()) + "-";
    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"}) {
        left += entry.path().filename().string().starts_with(prefix) ? 1U : 0U;
    }
    return left;
}

}  // namespace

TEST_CASE("sharing: the second process reads every byte of every round as it was written", "[machine]")
{
    for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{1'000'000}}) {
        const Sharing shared = share_with_a_process(bytes, 5);
        CHECK(shared.outcome == Sharing::Outcome::done);
        CHECK(shared.bytes == 5 * bytes);
        CHECK(shared.wrong_bytes == 0);
        CHECK(shared.read_ns > 0);
        CHECK(shared.write_ns > 0);
        CHECK(shared.turn_ns > 0);
    }
    CHECK(names_left() == 0);
    CHECK(::waitpid(-1, nullptr, WNOHANG) <= 0);  // nobody is left to wait for
}

TEST_CASE("sharing: a full /dev/shm is told apart, and costs no SIGBUS", "[machine]")
{
    const pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", "/dev/shm", "tmpfs", 0, "size=64k") != 0) {
            ::_exit(77);
        }
        const Sharing shared = share_with_a_process(1 << 20, 1);
        ::_exit(shared.outcome == Sharing::Outcome::shm_full && names_left() == 0 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        std::printf("skipped: a full /dev/shm: no tmpfs can be mounted here\n");
        return;
    }
    CHECK(status == 0);
}

}  // namespace memsweep::sys
