#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/child_process.hpp"
#include "core/sys/file_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/disposition.hpp"
#include "tests/sys/helper_role.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

// What the script prints, by way of a pipe that becomes its standard output.
std::string output_of(sys::SpawnOptions options)
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const sys::UniqueFd read{ends[0]};
    sys::UniqueFd write{ends[1]};
    options.inherit.emplace_back(write.get(), STDOUT_FILENO);
    auto child = sys::ChildProcess::spawn(options);
    REQUIRE(child);
    write.reset();
    std::string text;
    std::array<char, 256> block{};
    for (ssize_t got = 0; (got = ::read(read.get(), block.data(), block.size())) > 0;) {
        text.append(block.data(), static_cast<std::size_t>(got));
    }
    CHECK(child->wait_for(60s)->success());
    return text;
}

std::size_t open_descriptors()
{
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a program that cannot be run is an error, not a child", "[machine]")
{
    const tests::TempTree tree;
    const auto descriptors = open_descriptors();
    for (const std::string& program : {std::string{"/no/such/program"}, std::string{"no-such-program-anywhere"},
                                       tree.add("not-executable", "#!/bin/sh\n"), tree.root()}) {
        CAPTURE(program);
        const auto child = sys::ChildProcess::spawn({.argv = {program}});
        REQUIRE_FALSE(child);
        CHECK(child.error().code == base::ErrorCode::os);
        CHECK(child.error().where == program);
        CHECK(child.error().message.starts_with("exec: "));
    }
    CHECK(open_descriptors() == descriptors);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left over
}

TEST_CASE("impossible orders are refused before anything is forked", "[machine]")
{
    const auto refused = [](const sys::SpawnOptions& options) {
        const auto child = sys::ChildProcess::spawn(options);
        return !child && child.error().code == base::ErrorCode::invalid_input;
    };
    CHECK(refused({.argv = {}}));
    CHECK(refused({.argv = {""}}));
    CHECK(refused({.argv = {"echo", std::string("a\0b", 3)}}));
    CHECK(refused({.argv = {"true"}, .environment = {{"", "x"}}}));
    CHECK(refused({.argv = {"true"}, .environment = {{"A=B", "x"}}}));
    CHECK(refused({.argv = {"true"}, .inherit = {{-1, 5}}}));
    CHECK(refused({.argv = {"true"}, .inherit = {{0, -1}}}));
    CHECK(refused({.argv = {"true"}, .inherit = {{0, 5}, {1, 5}}}));
    CHECK(
        sys::ChildProcess::spawn({.argv = {"true"}, .inherit = {{999'999, 5}}}).error().message.starts_with("inherit"));
}

TEST_CASE("the environment is ours with additions and replacements", "[machine]")
{
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs in this test
    ::setenv("MEMSWEEP_TEST_A", "ours", 1);
    ::setenv("MEMSWEEP_TEST_B", "ours", 1);
    sys::SpawnOptions options =
        tests::shell("echo $MEMSWEEP_TEST_A-$MEMSWEEP_TEST_B-$MEMSWEEP_TEST_C; env | grep -c TEST_B=");
    options.environment = {{"MEMSWEEP_TEST_B", "first"}, {"MEMSWEEP_TEST_B", "theirs = 1"}, {"MEMSWEEP_TEST_C", ""}};
    CHECK(output_of(options) == "ours-theirs = 1-\n1\n");
    CHECK(std::string{::getenv("MEMSWEEP_TEST_B")} == "ours");
    ::unsetenv("MEMSWEEP_TEST_A");
    ::unsetenv("MEMSWEEP_TEST_B");
    // NOLINTEND(concurrency-mt-unsafe)
}

TEST_CASE("a child has the descriptors it was promised and no others", "[machine]")
{
    const tests::TempTree tree;
    const sys::UniqueFd first{::open(tree.add("first", "1\n").c_str(), O_RDONLY)};  // not close-on-exec, by mistake
    const sys::UniqueFd second{::open(tree.add("second", "2\n").c_str(), O_RDONLY)};
    const sys::UniqueFd stray{::open(tree.add("stray", "3\n").c_str(), O_RDONLY)};
    // The shell lists them itself: a pipeline would have descriptors of its own for a moment. 3 is the folder it reads.
    sys::SpawnOptions options =
        tests::shell(R"(cat <&8; cat <&9; for fd in /proc/$$/fd/*; do printf '%s ' "${fd##*/}"; done)");
    options.inherit = {{first.get(), 8}, {second.get(), 9}};
    CHECK(output_of(options) == "1\n2\n0 1 2 3 8 9 ");
}

TEST_CASE("descriptors may change places on the way to the child", "[machine]")
{
    const tests::TempTree tree;
    sys::UniqueFd first{::open(tree.add("first", "1\n").c_str(), O_RDONLY | O_CLOEXEC)};
    sys::UniqueFd second{::open(tree.add("second", "2\n").c_str(), O_RDONLY | O_CLOEXEC)};
    REQUIRE((first.get() < 10 && second.get() < 10));  // a shell redirects one digit only
    const std::string a = std::to_string(first.get());
    const std::string b = std::to_string(second.get());
    sys::SpawnOptions options = tests::shell("cat <&" + b + "; cat <&" + a);
    options.inherit = {{first.get(), second.get()}, {second.get(), first.get()}};
    CHECK(output_of(options) == "1\n2\n");
    options = tests::shell("cat <&" + a);
    options.inherit = {{first.get(), first.get()}};
    ::lseek(first.get(), 0, SEEK_SET);
    CHECK(output_of(options) == "1\n");
    // Numbers that the pipe of spawn itself would have got.
    options = tests::shell("cat <&" + std::to_string(second.get() + 1) + "; cat <&" + std::to_string(second.get() + 2));
    options.inherit = {{first.get(), second.get() + 1}, {second.get(), second.get() + 2}};
    ::lseek(first.get(), 0, SEEK_SET);
    ::lseek(second.get(), 0, SEEK_SET);
    if (second.get() + 2 < 10) {
        CHECK(output_of(options) == "1\n2\n");
    }
}

TEST_CASE("a child starts with its signals unblocked and at their defaults, in a group of its own", "[machine]")
{
    const tests::Disposition interrupt{SIGINT, SIG_IGN};
    const tests::Disposition terminate{SIGTERM, SIG_IGN};
    const tests::Disposition broken_pipe{SIGPIPE, SIG_IGN};
    sigset_t all;
    sigset_t mask_before;
    sigset_t mask_after;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask_before);
    const std::string text = output_of({.argv = {"cat", "/proc/self/status"}});
    ::pthread_sigmask(SIG_SETMASK, &mask_before, &mask_after);
    CHECK(sys::find_field(text, "SigBlk") == "0000000000000000");
    const auto ignored = std::stoull(std::string{sys::find_field(text, "SigIgn").value_or("0")}, nullptr, 16);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
        CHECK((ignored >> (signal - 1) & 1U) == 0);
    }
    CHECK(sys::find_field(text, "NSpgid") == sys::find_field(text, "NSpid"));
    CHECK(sigismember(&mask_after, SIGINT) == 1);  // ours is as it was
}

TEST_CASE("a copy of this process does its work in a group of its own and ends", "[machine]")
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const sys::UniqueFd read{ends[0]};
    const sys::UniqueFd write{ends[1]};
    auto copy = sys::ChildProcess::copy([&] {
        const std::array<pid_t, 3> said{::getpid(), ::getppid(), ::getpgrp()};
        return ::write(write.get(), said.data(), sizeof said);
    });
    REQUIRE(copy);
    std::array<pid_t, 3> said{};
    REQUIRE(::read(read.get(), said.data(), sizeof said) == static_cast<ssize_t>(sizeof said));
    CHECK(said == std::array<pid_t, 3>{copy->pid(), ::getpid(), copy->pid()});
    CHECK(copy->wait_for(60s)->success());
    auto stuck = sys::ChildProcess::copy([] { ::pause(); });
    REQUIRE(stuck);
    CHECK(stuck->kill_and_reap().signal == SIGKILL);
}
