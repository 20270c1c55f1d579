#include "core/trace/unrecorded.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>

#include "core/sys/left_behind.hpp"
#include "core/trace/format/start_layout.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::trace {
namespace {

// posix_spawn returns while the kernel still sets the program up: its file can be read by then, its words cannot.
TEST_CASE("a look at a program that begins or ends takes it for none without the recorder", "[unit]")
{
    constexpr const char* library = "libutil.so.1";  // any that every machine has
    std::string preload = std::string{"LD_PRELOAD="} + library;
    std::string program = "/bin/true";
    const std::array<char*, 2> words{program.data(), nullptr};
    const std::array<char*, 2> environment{preload.data(), nullptr};
    TreeLooks looks{library};
    for (int round = 0; round < 500; ++round) {
        pid_t child = 0;
        REQUIRE(::posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environment.data()) == 0);
        int status = 0;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            looks.look({child});
        }
        REQUIRE(status == 0);
    }
    std::vector<UnrecordedProgram> programs;
    looks.add_to(programs, {});
    CHECK(describe(programs).empty());
}

TEST_CASE("a look finds a program that was started without the recorder", "[unit]")
{
    std::string program = "/bin/sleep";
    std::string word = "60";
    const std::array<char*, 3> words{program.data(), word.data(), nullptr};
    const std::array<char*, 1> environment{nullptr};
    pid_t child = 0;
    REQUIRE(::posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environment.data()) == 0);
    TreeLooks looks{"libutil.so.1"};
    std::vector<UnrecordedProgram> programs;
    for (int tries = 0; tries < 1'000 && programs.empty(); ++tries) {
        looks.look({child});
        looks.add_to(programs, {});
    }
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    REQUIRE(programs.size() == 1);
    CHECK(programs[0].process == static_cast<std::uint32_t>(child));
    CHECK(programs[0].command == "/bin/sleep 60");
}

TEST_CASE("a process that notes itself that it is not recorded is told beside the programs without an image", "[unit]")
{
    constexpr sys::PassingShape shape{.before = "memsweep-starts-", .after = "", .tells_boot = false, .digits = 6};
    const auto made = sys::PassingFolder::make(shape);
    REQUIRE(made);
    const std::string folder = made->path();
    make_starts(folder);
    const auto entry = [](StartState state, std::uint32_t process, PreloadObstacle obstacle) {
        StartEntry one{.state = state, .process = process, .nanoseconds = 5, .obstacle = obstacle};
        std::memcpy(one.program, "/bin/server", sizeof "/bin/server");
        return one;
    };
    const std::array<StartEntry, 4> entries{
        entry(StartState::begun, 7, PreloadObstacle::none), entry(StartState::unrecorded, 8, PreloadObstacle::no_file),
        entry(StartState::failed, 9, PreloadObstacle::none), entry(StartState::begun, 10, PreloadObstacle::none)};
    std::fstream file{starts_in(folder), std::ios::in | std::ios::out | std::ios::binary};
    StartsHeader header;
    REQUIRE(file.read(reinterpret_cast<char*>(&header), sizeof header));
    header.taken = header.entries + 3;
    REQUIRE(file.seekp(0).write(reinterpret_cast<const char*>(&header), sizeof header));
    REQUIRE(file.seekp(starts_offset).write(reinterpret_cast<const char*>(entries.data()), sizeof entries));
    file.close();

    std::uint64_t not_noted = 0;
    const std::vector<StartEntry> read = read_starts(folder, not_noted);
    CHECK(not_noted == 3);
    const std::vector<UnrecordedProgram> certain = unrecorded_processes(read);
    REQUIRE(certain.size() == 1);
    CHECK(describe(certain[0]) == "/bin/server (process 8): can make no file where it is recorded: it lacks the right "
                                  "(another user, chroot, mount namespace), a descriptor or room");
    const std::vector<UnrecordedProgram> all = unrecorded_programs(read, {{7, 0, 6}, {8, 0, 4}});
    REQUIRE(all.size() == 2);
    CHECK(all[0].process == 8);
    CHECK(all[1].process == 10);

    Facts facts;
    put_unrecorded(certain, facts);
    CHECK(describe(take_unrecorded(facts)) == describe(certain));
}

}  // namespace
}  // namespace memsweep::trace
