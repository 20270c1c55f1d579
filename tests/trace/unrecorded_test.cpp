#include "core/trace/unrecorded.hpp"

#include <array>
#include <csignal>

#include <spawn.h>
#include <sys/wait.h>

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

}  // namespace
}  // namespace memsweep::trace
