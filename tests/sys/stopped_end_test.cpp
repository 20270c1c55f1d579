// A command is stopped once, at its end, however it ends.
#include "core/sys/stopped_end.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include <unistd.h>

#include "core/sys/file_text.hpp"
#include "core/sys/mappings.hpp"
#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests::stops {
namespace {

struct Seen {
    int stops{};
    std::uint64_t rss_bytes{};
    std::uint64_t page_bytes{};
    int status{};
};

base::Expected<sys::ExitStatus> run(const std::string& script, Seen& seen)
{
    return sys::StoppedAtEnd::run({.argv = {"/bin/sh", "-c", script}}, {.at_end = [&](const sys::StoppedEnd& end) {
                                      ++seen.stops;
                                      seen.status = end.status;
                                      const auto space = sys::read_address_space(end.thread);
                                      if (space) {
                                          seen.rss_bytes = space->rss_bytes();
                                          seen.page_bytes = space->resident_bytes();
                                      }
                                  }});
}

}  // namespace

TEST_CASE("a command stands once at its end with all of its memory", "[machine]")
{
    if (const auto traced = sys::can_trace(); !traced) {
        WARN("skipped: a command at its end: " + traced.error().message);
        return;
    }
    const std::array<std::pair<const char*, std::pair<int, int>>, 5> ends{{{"exit 0", {0, 0}},
                                                                           {"exit 3", {3, 0}},
                                                                           {"kill -TERM $$", {0, SIGTERM}},
                                                                           {"kill -KILL $$", {0, SIGKILL}},
                                                                           {"exec true", {0, 0}}}};
    for (const auto& [script, expected] : ends) {
        INFO(script);
        Seen seen;
        const auto ended = run(script, seen);
        REQUIRE(ended);
        CHECK(ended->code == expected.first);
        CHECK(ended->signal == expected.second);
        CHECK(seen.stops == 1);
        CHECK(seen.rss_bytes > 0);
        CHECK((seen.page_bytes == seen.rss_bytes || seen.page_bytes == 0));
    }
}

TEST_CASE("signals that a program handles, and children that it starts, do not stop it", "[machine]")
{
    if (const auto traced = sys::can_trace(); !traced) {
        WARN("skipped: a command at its end: " + traced.error().message);
        return;
    }
    Seen seen;
    const auto ended = run("trap 'x=1' USR1; kill -USR1 $$; (exit 5); [ $? = 5 ] && [ \"$x\" = 1 ] && exit 7", seen);
    REQUIRE(ended);
    CHECK(ended->code == 7);
    CHECK(seen.stops == 1);
}

TEST_CASE("a program that a command starts is followed in its place, and the others are let go", "[machine]")
{
    if (const auto traced = sys::can_trace(); !traced) {
        WARN("skipped: a program that a command starts: " + traced.error().message);
        return;
    }
    int asked = 0;
    pid_t followed = 0;
    sys::ProgramStops stops;
    stops.is_wanted = [&](pid_t process) {
        ++asked;
        const bool is_sleep = sys::read_word("/proc/" + std::to_string(process) + "/comm") == "sleep";
        followed = is_sleep ? process : followed;
        return is_sleep;
    };
    int ends = 0;
    stops.at_end = [&](const sys::StoppedEnd& end) { ends += end.process == followed ? 1 : 100; };
    const auto ended =
        sys::StoppedAtEnd::run({.argv = {"/bin/sh", "-c", "(true; env true); sleep 0; sleep 0; exit 7"}}, stops);
    REQUIRE(ended);
    CHECK(ended->code == 7);
    CHECK(asked >= 3);  // sh, the true of env, sleep
    CHECK(ends == 1);
}

TEST_CASE("all threads of a command stand whenever that is asked, and go on", "[machine]")
{
    if (const auto traced = sys::can_trace(); !traced) {
        WARN("skipped: a command that is asked to stand: " + traced.error().message);
        return;
    }
    const auto folder = sys::own_program_folder();
    const std::string program = (folder ? *folder : std::string{}) + "/recorded_memory";
    if (!std::filesystem::exists(program)) {
        WARN("skipped: a command that is asked to stand: recorded_memory is not built");
        return;
    }
    int asked = 0;
    int threads = 0;
    int moving = 0;
    int ends = 0;
    sys::ProgramStops stops{.at_end = [&](const sys::StoppedEnd&) { ++ends; }};
    stops.meanwhile = [](pid_t) { return true; };
    stops.at_asked = [&](const sys::StoppedMoment& moment) {
        ++asked;
        const auto tasks = std::filesystem::path{"/proc"} / std::to_string(moment.process) / "task";
        for (const auto& task : std::filesystem::directory_iterator{tasks}) {
            const std::string stat = sys::read_word((task.path() / "stat").string());
            ++threads;
            moving += stat.substr(stat.rfind(')') + 2, 1) == "t" ? 0 : 1;
        }
    };
    stops.pause = std::chrono::milliseconds{2};
    const auto ended = sys::StoppedAtEnd::run({.argv = {program, "peak"}}, stops);
    REQUIRE(ended);
    CHECK(ended->code == 0);
    CHECK(ends == 1);
    CHECK(asked > 5);
    CHECK(threads > asked);
    CHECK(moving <= 1);  // the one that ends while the rest goes on
}

TEST_CASE("a command that cannot be run is an error that names it, and has no end", "[unit]")
{
    int stops = 0;
    const auto ended =
        sys::StoppedAtEnd::run({.argv = {"/no/such/program"}}, {.at_end = [&](const sys::StoppedEnd&) { ++stops; }});
    REQUIRE(!ended);
    CHECK(stops == 0);
    if (sys::can_trace()) {
        CHECK(ended.error().where == "/no/such/program");
    }
}

}  // namespace memsweep::tests::stops
