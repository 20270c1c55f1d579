#include "core/sys/exit_stop.hpp"

#include <signal.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "core/sys/child_process.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/file_text.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::sys {
namespace {

struct Looked {
    int times{};
    std::uint64_t resident{};
    ExitStatus status;
};

// What is seen of a shell that runs this script, and how it ends.
Looked look_at(const std::string& script, int signal = 0)
{
    auto launch = CommandLaunch::prepare({.program = {.argv = {"/bin/sh", "-c", script}}});
    REQUIRE(launch.has_value());
    const auto looked = std::make_shared<Looked>();
    auto stop = ExitStop::attach_to_child_of(launch->launcher(), [looked](pid_t process) {
        ++looked->times;
        const auto text = read_kernel_text(fmt::format("/proc/{}/smaps_rollup", process));
        looked->resident = text ? find_kib_field(*text, "Rss").value_or(0) : 0;
    });
    if (!stop) {
        WARN("left out: nobody may be traced here: " << stop.error().message);
        return {.times = -1};
    }
    auto launched = launch->start();
    REQUIRE(launched.has_value());
    if (signal != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        ::kill(launched->program.pid(), signal);
    }
    REQUIRE((*stop)->wait(std::chrono::seconds{30}));
    stop->reset();
    const auto ended = launched->program.end(std::chrono::seconds{30});
    REQUIRE(ended.has_value());
    looked->status = ended->status;
    return *looked;
}

}  // namespace

TEST_CASE("a process is seen once at its exit, with its memory, and ends as it would have", "[machine]")
{
    struct Way {
        const char* script;
        int signal;
        int code;
        int by_signal;
    };
    for (const Way& way : {Way{"sleep 0.1; exit 3", 0, 3, 0},
                           {"sleep 0.1; kill -ABRT $$", 0, 0, SIGABRT},
                           {"exec sleep 30", SIGTERM, 0, SIGTERM},
                           {"exec sleep 30", SIGKILL, 0, SIGKILL}}) {
        INFO(way.script << ", signal " << way.signal);
        const Looked looked = look_at(way.script, way.signal);
        if (looked.times < 0) {
            return;
        }
        CHECK(looked.times == 1);
        CHECK(looked.resident > 0);
        CHECK(looked.status.code == way.code);
        CHECK(looked.status.signal == way.by_signal);
    }
}

TEST_CASE("signals that a process handles reach it while it is waited for", "[machine]")
{
    const Looked looked = look_at("trap 'exit 7' USR1; sleep 0.2; kill -USR1 $$; sleep 5");
    if (looked.times >= 0) {
        CHECK(looked.times == 1);
        CHECK(looked.status.code == 7);
    }
}

TEST_CASE("a program that ends at once is seen all the same", "[machine]")
{
    for (int i = 0; i < 20; ++i) {
        const Looked looked = look_at("exit 4");
        if (looked.times >= 0) {
            CHECK(looked.times == 1);
            CHECK(looked.resident > 0);
            CHECK(looked.status.code == 4);
        }
    }
}

TEST_CASE("children of what is waited for run untraced", "[machine]")
{
    // Were it traced, the child would stand before its first instruction, and its parent wait for ever.
    const Looked looked = look_at("/bin/true; grep -q '^TracerPid:.0$' /proc/self/status || exit 5; exit 6");
    if (looked.times >= 0) {
        CHECK(looked.times == 1);
        CHECK(looked.status.code == 6);
    }
}

TEST_CASE("a process that is not there has no child to wait for", "[machine]")
{
    CHECK_FALSE(ExitStop::attach_to_child_of(0x3fffffff, [](pid_t) {}).has_value());
}

}  // namespace memsweep::sys
