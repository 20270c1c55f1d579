// Small trees of real processes. What a process has beside the memory that it was told to touch differs from machine to
// machine by some MiB.
#include "core/sys/tree_sample.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/sanitizers.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/sys/helper_role.hpp"
#include "tests/sys/small_pages.hpp"

using namespace memsweep;
using namespace std::chrono_literals;
using tests::mib;

namespace {

constexpr std::uint64_t few_pages = 4 * mib;

struct Helper {
    explicit Helper(const std::string& role)
    {
        auto ends = sys::Channel::pair();
        REQUIRE(ends);
        auto spawned = sys::ChildProcess::spawn(tests::helper(role, ends->second.fd()));
        REQUIRE(spawned);
        channel.emplace(std::move(ends->first));
        process.emplace(std::move(*spawned));
    }

    void hear(const std::string& word)
    {
        std::array<char, 16> buffer{};
        const auto message = channel->receive(buffer, 30s);
        REQUIRE(message);
        REQUIRE(message->bytes == word);
    }

    void go_on() { REQUIRE(channel->send("go")); }

    std::optional<sys::Channel> channel;
    std::optional<sys::ChildProcess> process;
};

sys::TreeSample sample()
{
    return sys::sample_descendants(::getpid());
}

std::uint64_t resident_bytes(const Helper& helper)
{
    auto watch = sys::ProcessWatch::open(helper.process->pid());
    REQUIRE(watch);
    return watch->working_set_bytes().value_or(0);
}

}  // namespace

TEST_CASE("of one process all that is resident counts, of several no file", "[machine]")
{
    Helper first{"wait"};
    first.hear("ready");
    const sys::TreeSample alone = sample();
    const std::uint64_t first_bytes = resident_bytes(first);
    CHECK(alone.processes == 1);
    CHECK(alone.minor_faults > 0);
    CHECK(alone.sharers.empty());
    CHECK(alone.working_set_bytes + mib >= first_bytes);
    CHECK(alone.working_set_bytes <= first_bytes + mib);
    CHECK(sys::with_shared_once(alone) == alone.working_set_bytes);

    Helper second{"wait"};
    second.hear("ready");
    const sys::TreeSample both = sample();
    CHECK(both.processes == 2);
    CHECK(both.minor_faults > alone.minor_faults);
    CHECK(both.sharers.empty());  // they have files in common, which do not count
    CHECK(both.working_set_bytes > 0);
    CHECK(both.working_set_bytes + mib < first_bytes + resident_bytes(second));
}

TEST_CASE("memory that a fork has in common with its parent counts once, copies of it again", "[machine]")
{
    Helper parent{"fork"};
    parent.hear("touched");
    const std::uint64_t before = sample().working_set_bytes;
    CHECK(before >= 64 * mib);
    parent.go_on();
    parent.hear("forked");
    const sys::TreeSample forked = sample();
    CHECK(forked.processes == 2);
    CHECK(forked.sharers.size() == 2);
    CHECK(std::ranges::is_sorted(forked.sharers));
    CHECK(std::ranges::count(forked.sharers, parent.process->pid()) == 1);
    CHECK_FALSE(forked.several_have_shared_memory);
    CHECK(forked.sharers_bytes == forked.working_set_bytes);
    CHECK(forked.working_set_bytes >= 2 * 64 * mib);
    const std::uint64_t once = sys::with_shared_once(forked);
    CHECK(once + few_pages >= (64 + 16) * mib);
    CHECK((tests::sanitized || once <= before + 16 * mib + few_pages));
}

TEST_CASE("shared memory counts once, of parent and child", "[machine]")
{
    Helper parent{"fork_shared"};
    parent.hear("touched");
    const std::uint64_t before = sample().working_set_bytes;
    parent.go_on();
    parent.hear("forked");
    const sys::TreeSample forked = sample();
    CHECK(forked.processes == 2);
    CHECK(forked.several_have_shared_memory);
    const std::uint64_t once = sys::with_shared_once(forked);
    CHECK(once + few_pages >= 64 * mib);
    CHECK((tests::sanitized || once <= before + few_pages));
}

TEST_CASE("shared memory counts once, of programs that have met", "[machine]")
{
    constexpr std::uint64_t bytes = 32 * mib;
    const auto region = sys::SharedRegion::create(bytes, "memsweep-test");
    REQUIRE(region);
    std::array<Helper, 2> helpers{Helper{"touch_shared"}, Helper{"touch_shared"}};
    for (Helper& helper : helpers) {
        REQUIRE(helper.channel->send("map", region->fd()));
        helper.hear("touched");
    }
    const sys::TreeSample both = sample();
    CHECK(both.processes == 2);
    CHECK(both.sharers.size() == 2);
    CHECK(both.several_have_shared_memory);
    CHECK(both.working_set_bytes >= 2 * bytes);
    const std::uint64_t once = sys::with_shared_once(both);
    CHECK(once >= bytes);
    CHECK(once <= both.working_set_bytes - bytes + few_pages);
}

TEST_CASE("a child that runs in its parent's memory has none of its own", "[machine]")
{
    if (MEMSWEEP_THREAD_SANITIZER != 0) {
        WARN("left out: ThreadSanitizer turns vfork into fork");
        return;
    }
    if (::syscall(SYS_kcmp, ::getpid(), ::getpid(), KCMP_VM, 0, 0) != 0) {
        WARN("left out: this kernel does not compare processes (kcmp)");
        return;
    }
    Helper parent{"vfork"};
    parent.hear("touched");
    const std::uint64_t before = sample().working_set_bytes;
    parent.go_on();
    for (int i = 0; i < 3000 && sys::descendants_of(::getpid()).size() < 2; ++i) {
        std::this_thread::sleep_for(10ms);
    }
    REQUIRE(sys::descendants_of(::getpid()).size() == 2);
    const sys::TreeSample both = sample();
    CHECK(both.processes == 1);
    CHECK(both.sharers.empty());
    CHECK(both.working_set_bytes + mib >= before);
    CHECK(both.working_set_bytes <= before + mib);
}

TEST_CASE("nothing is seen of processes that there are not", "[machine]")
{
    const sys::TreeSample none = sample();
    CHECK(none.processes == 0);
    CHECK(none.working_set_bytes == 0);
    CHECK(sys::with_shared_once(none) == 0);
}
