#include "core/sys/exit_stop.hpp"

#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "core/sys/child_process.hpp"
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
    auto child = ChildProcess::spawn({.argv = {"/bin/sh", "-c", script}});
    REQUIRE(child.has_value());
    Looked looked;
    const pid_t pid = child->pid();
    auto stop = ExitStop::attach(pid, [&] {
        ++looked.times;
        const auto text = read_kernel_text(fmt::format("/proc/{}/smaps_rollup", pid));
        looked.resident = text ? find_kib_field(*text, "Rss").value_or(0) : 0;
    });
    if (!stop) {
        WARN("left out: nobody may be traced here: " << stop.error().message);
        return {.times = -1};
    }
    if (signal != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        ::kill(pid, signal);
    }
    CHECK((*stop)->wait(std::chrono::seconds{30}));
    stop->reset();
    const auto status = child->wait_for(std::chrono::seconds{30});
    REQUIRE(status.has_value());
    looked.status = *status;
    return looked;
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
                           {"sleep 30", SIGTERM, 0, SIGTERM},
                           {"sleep 30", SIGKILL, 0, SIGKILL}}) {
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

TEST_CASE("a process that is not there cannot be waited for", "[machine]")
{
    CHECK_FALSE(ExitStop::attach(0x3fffffff, [] {}).has_value());
}

}  // namespace memsweep::sys
