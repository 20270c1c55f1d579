#include "tests/sys/helper_role.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/interprocess.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

constexpr std::chrono::seconds patience{30};

// Says a word, then stays until it is killed or told to go.
void say_and_wait(sys::Channel& channel, std::string_view word)
{
    if (!channel.send(word)) {
        ::_exit(3);
    }
    std::array<char, 16> buffer{};
    static_cast<void>(channel.receive(buffer, patience));
}

void be_parent_of_a_sleeper(sys::Channel& channel)
{
    const auto child = sys::ChildProcess::spawn({.argv = {"sleep", "600"}});
    say_and_wait(channel, child ? std::to_string(child->pid()) : "none");
}

void touch_memory(sys::Channel& channel)
{
    say_and_wait(channel, "before");
    const auto mapping = sys::Mapping::anonymous(64U << 20);
    sys::touch_pages(mapping->data(), mapping->size());
    say_and_wait(channel, "touched");
}

// 64 MiB, then a child that writes to 16 of them: copies of its own, unless they are shared.
void fork_with_memory(sys::Channel& channel, int sharing)
{
    constexpr std::uint64_t written_bytes = 16U << 20;
    const auto mapping = sys::Mapping::map(64U << 20, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS);
    static_cast<void>(sys::advise(mapping->data(), mapping->size(), sys::Advice::no_huge_pages));
    sys::touch_pages(mapping->data(), mapping->size());
    say_and_wait(channel, "touched");
    const pid_t child = ::fork();
    if (child == 0) {
        sys::touch_pages(mapping->data(), written_bytes);
        ::raise(SIGSTOP);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, WUNTRACED);
    say_and_wait(channel, "forked");
}

// For good: until its child executes something or ends, which that does not.
void vfork_with_memory(sys::Channel& channel)
{
    const auto mapping = sys::Mapping::anonymous(64U << 20);
    sys::touch_pages(mapping->data(), mapping->size());
    say_and_wait(channel, "touched");
    if (::vfork() == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) {
            ::pause();
        }
    }
}

void touch_memory_of_others(sys::Channel& channel)
{
    std::array<char, 16> buffer{};
    auto message = channel.receive(buffer, patience);
    auto region = sys::SharedRegion::map(std::move(message->fd));
    sys::touch_pages(region->data<char>(), region->size());
    say_and_wait(channel, "touched");
}

void count_in_shared_memory(sys::Channel& channel)
{
    std::array<char, 16> buffer{};
    auto message = channel.receive(buffer, patience);
    auto region = sys::SharedRegion::map(std::move(message->fd), 16);
    *region->data<int>() += 1;
    say_and_wait(channel, "done");
}

}  // namespace

TEST_CASE("a role in a child of this executable", "[.helper]")
{
    const char* const name = std::getenv("MEMSWEEP_TEST_ROLE");
    const std::string_view role = name != nullptr ? name : "";
    sys::Channel channel{tests::helper_channel_fd};
    if (role == "wait") {
        say_and_wait(channel, "ready");
    } else if (role == "parent") {
        be_parent_of_a_sleeper(channel);
    } else if (role == "touch") {
        touch_memory(channel);
    } else if (role == "fork") {
        fork_with_memory(channel, MAP_PRIVATE);
    } else if (role == "fork_shared") {
        fork_with_memory(channel, MAP_SHARED);
    } else if (role == "vfork") {
        vfork_with_memory(channel);
    } else if (role == "touch_shared") {
        touch_memory_of_others(channel);
    } else if (role == "share") {
        count_in_shared_memory(channel);
    } else {
        ::_exit(2);
    }
    ::_exit(0);  // Catch2's report of this run is of no interest
}
