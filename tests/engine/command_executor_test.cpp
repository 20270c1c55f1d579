// Real programs on the real kernel: measured, refused, stopped; nothing of them stays behind.
#include "core/engine/command/command_executor.hpp"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/engine/compile.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/processors.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using namespace std::chrono_literals;
using engine::Ending;

namespace {

engine::CompiledCase script(std::string text)
{
    engine::CompiledCase program;
    program.work = model::CommandSpec{.run = {std::move(text)}, .shell = true};
    return program;
}

struct CommandBench {
    engine::Attempt run(const engine::CompiledCase& program, std::chrono::nanoseconds timeout = 60s,
                        model::SeriesSpec series = {})
    {
        engine::Attempt attempt = executor.run(program, {.timeout = timeout, .series = series}, [](int /*pid*/) {});
        CHECK(sys::descendants_of(::getpid()).empty());
        return attempt;
    }

    sys::SystemClock clock;
    sys::StopSignals signals;
    engine::CommandExecutor executor{clock, signals, base::fail(base::ErrorCode::not_supported, "no recorder")};
};

std::string text_of(const std::string& path)
{
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("a command is measured by its kernel", "[unit]")
{
    const engine::Attempt attempt = CommandBench{}.run(script("exec true"));
    REQUIRE(attempt.ending == Ending::finished);
    CHECK(attempt.reason.empty());
    CHECK(attempt.command().wall_ns > 0);
    CHECK(attempt.command().minor_faults > 0);
    CHECK(attempt.command().cpu_ns == (attempt.command().user_time + attempt.command().system_time).count());
    // Far below what this process has: none of it is handed down.
    CHECK(attempt.command().peak_working_set_bytes > 100'000);
    CHECK(attempt.command().peak_working_set_bytes < 8'000'000);
}

TEST_CASE("a command's bad end is told with its last words", "[unit]")
{
    CommandBench bench;
    engine::CompiledCase program = script("echo one >&2; printf 'two\\033[31m\\nthree\\nfour\\n' >&2; exit 7");
    engine::Attempt attempt = bench.run(program);
    CHECK(attempt.ending == Ending::crashed);
    CHECK(attempt.reason == "exit code 7; its last words: two\\x1b[31m | three | four");
    program.command().exit_code = 7;
    CHECK(bench.run(program).ending == Ending::finished);
    attempt = bench.run(script("kill -SEGV $$"));
    CHECK(attempt.ending == Ending::crashed);
    CHECK(attempt.reason == "killed by signal 11 (SIGSEGV)");
    attempt = bench.run(script("exec /nonexistent/program 2>/dev/null"));
    CHECK(attempt.ending == Ending::crashed);
}

TEST_CASE("a program that cannot be run is no case", "[unit]")
{
    engine::CompiledCase program;
    program.work = model::CommandSpec{.run = {"/nonexistent/program"}};
    const engine::Attempt attempt = CommandBench{}.run(program);
    CHECK(attempt.ending == Ending::broken);
    CHECK(attempt.reason.find("/nonexistent/program") != std::string::npos);
    CHECK_FALSE(engine::missing_program(program.command()).empty());
    CHECK_FALSE(engine::missing_program({.run = {"no-such-program-anywhere"}}).empty());
    CHECK_FALSE(engine::missing_program({.run = {"/etc/passwd"}}).empty());
    CHECK(engine::missing_program({.run = {"sh"}}).empty());
    CHECK(engine::missing_program({.run = {"./made"}, .prepare = {"make"}}).empty());
}

TEST_CASE("a command at its timeout ends with all that it has started", "[unit]")
{
    const engine::Attempt attempt =
        CommandBench{}.run(script("trap '' TERM; setsid sleep 1000 & sleep 1000 & while :; do sleep 1; done"), 300ms);
    CHECK(attempt.ending == Ending::timed_out);
}

TEST_CASE("what a command leaves behind is killed", "[unit]")
{
    const engine::Attempt attempt = CommandBench{}.run(script("setsid sleep 1000 & sleep 1000 & sleep 0.1"));
    CHECK(attempt.ending == Ending::finished);
    CHECK(attempt.command().left_processes == 2);
}

TEST_CASE("what a command prints is hashed, kept or forgotten", "[unit]")
{
    const tests::TempTree folder;
    CommandBench bench;
    engine::CompiledCase program = script("printf abc; echo unseen >&2");
    program.command().output = model::output_checksum;
    CHECK(bench.run(program).command().checksum == "xxh64:44bc2cf5ad770999");
    program.command().cwd = folder.path("");
    program.command().output = "printed";
    CHECK(bench.run(program).ending == Ending::finished);
    CHECK(text_of(folder.path("printed")) == "abc");
    program.command().input = "printed";
    program.command().run = {"cat; cat"};
    program.command().output = model::output_checksum;
    CHECK(bench.run(program).command().checksum == "xxh64:44bc2cf5ad770999");
    program.command().input = "missing";
    CHECK(bench.run(program).ending == Ending::broken);
}

TEST_CASE("prepare and cleanup surround a command", "[unit]")
{
    const tests::TempTree folder;
    CommandBench bench;
    engine::CompiledCase program = script("test -e made");
    program.command().cwd = folder.path("");
    program.command().prepare = {"touch made"};
    program.command().cleanup = {"rm made"};
    CHECK(bench.run(program).ending == Ending::finished);
    CHECK_FALSE(std::filesystem::exists(folder.path("made")));
    program.command().run = {"exit 1"};
    CHECK(bench.run(program).ending == Ending::crashed);
    CHECK_FALSE(std::filesystem::exists(folder.path("made")));
    program.command().prepare = {"echo why >&2; exit 4"};
    const engine::Attempt attempt = bench.run(program);
    CHECK(attempt.ending == Ending::broken);
    CHECK(attempt.reason == "prepare: exit code 4; its last words: why");
}

TEST_CASE("a command's working set is sampled over time", "[unit]")
{
    const engine::Attempt attempt =
        CommandBench{}.run(script("sleep 0.2 & sleep 0.2; wait"), 60s, {.interval = 5ms, .working_set = true});
    REQUIRE(attempt.series.size() == 1);
    CHECK(attempt.series.front().name == "working_set");
    CHECK_FALSE(attempt.series.front().t.empty());
}

TEST_CASE("a stop signal ends a command", "[unit]")
{
    CommandBench bench;
    const engine::Attempt attempt =
        bench.executor.run(script("sleep 1000"), {.timeout = 60s}, [](int /*pid*/) { ::kill(::getpid(), SIGINT); });
    CHECK(attempt.ending == Ending::interrupted);
    CHECK(bench.run(script("exit 0")).ending == Ending::interrupted);  // nor does anything begin after it
    CHECK(sys::descendants_of(::getpid()).empty());
}

namespace {

// Each with the processors that this process may run on, in turn.
std::vector<engine::Attempt> together(const std::vector<engine::CompiledCase>& programs,
                                      std::chrono::nanoseconds timeout = 60s)
{
    const std::vector<std::uint32_t> allowed = sys::allowed_cpus();
    std::vector<std::uint32_t> processors;
    std::vector<engine::Repetition> repetitions;
    std::vector<int> pids(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) {
        processors.push_back(allowed[i % allowed.size()]);
        repetitions.push_back(
            {.compiled = programs[i], .limits = {.timeout = timeout}, .place = i, .started = [&pids, i](int pid) {
                 pids[i] = pid;
             }});
    }
    const sys::SystemClock clock;
    const sys::StopSignals signals;
    engine::CommandExecutor executor{clock, signals, base::fail(base::ErrorCode::not_supported, "no recorder"),
                                     processors};
    std::vector<engine::Attempt> attempts = executor.run_at_once(repetitions);
    CHECK(sys::descendants_of(::getpid()).empty());
    CHECK(sys::allowed_cpus() == allowed);
    REQUIRE(attempts.size() == programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) {
        CHECK(attempts[i].pid == pids[i]);
    }
    return attempts;
}

}  // namespace

TEST_CASE("programs that run at the same time wait for each other, on a processor each", "[unit]")
{
    const tests::TempTree folder;
    std::vector<engine::CompiledCase> programs;
    for (const auto& [own, other] : {std::pair{"a", "b"}, std::pair{"b", "a"}}) {
        // Neither ends before the other has begun.
        programs.push_back(script(fmt::format("grep Cpus_allowed_list: /proc/self/status > {0}.cpu; echo > {0}; "
                                              "while [ ! -e {1} ]; do sleep 0.01; done; echo {0}",
                                              own, other)));
        programs.back().command().cwd = folder.path("");
        programs.back().command().output = model::output_checksum;
    }
    const auto attempts = together(programs);
    for (const engine::Attempt& one : attempts) {
        CHECK(one.reason.empty());
        REQUIRE(one.ending == Ending::finished);
        CHECK(one.command().wall_ns > 0);
        CHECK(one.command().minor_faults > 0);
        CHECK(one.command().peak_working_set_bytes > 100'000);
        CHECK(one.command().peak_working_set_bytes < 8'000'000);
        CHECK(one.command().cpu_ns == (one.command().user_time + one.command().system_time).count());
        CHECK(one.command().checksum.starts_with("xxh64:"));
    }
    CHECK(attempts[0].command().checksum != attempts[1].command().checksum);
    const std::vector<std::uint32_t> allowed = sys::allowed_cpus();
    CHECK(text_of(folder.path("a.cpu")) == fmt::format("Cpus_allowed_list:\t{}\n", allowed[0]));
    CHECK(text_of(folder.path("b.cpu")) == fmt::format("Cpus_allowed_list:\t{}\n", allowed[1 % allowed.size()]));
}

TEST_CASE("of programs that run at the same time none answers for what another leaves or does", "[unit]")
{
    // The second is at work while the first ends, and what it has started has sessions of its own.
    const auto attempts = together({script("setsid sleep 1000 & sleep 1000 & sleep 0.1"),
                                    script("(setsid sleep 1 &) ; sleep 0.5; wait; sleep 1; exit 7")});
    CHECK(attempts[0].ending == Ending::finished);
    CHECK(attempts[0].command().left_processes == 2);
    CHECK(attempts[1].ending == Ending::crashed);
    CHECK(attempts[1].reason == "exit code 7");
    CHECK(attempts[1].command().left_processes == 0);
}

TEST_CASE("of programs that run at the same time one at its timeout ends alone", "[unit]")
{
    const auto attempts = together({script("trap '' TERM; setsid sleep 1000 & sleep 1000 & while :; do sleep 1; done"),
                                    script("exec true"), script("kill -KILL $$")},
                                   500ms);
    CHECK(attempts[0].ending == Ending::timed_out);
    CHECK(attempts[1].ending == Ending::finished);
    CHECK(attempts[2].ending == Ending::crashed);
    CHECK(attempts[2].reason == "killed by signal 9 (SIGKILL)");
}

TEST_CASE("of programs that run at the same time one that cannot be run costs no other", "[unit]")
{
    engine::CompiledCase missing;
    missing.work = model::CommandSpec{.run = {"/nonexistent/program"}};
    const tests::TempTree folder;
    engine::CompiledCase surrounded = script("echo run >> log; exit 3");
    surrounded.command().cwd = folder.path("");
    surrounded.command().prepare = {"echo prepare >> log"};
    surrounded.command().cleanup = {"echo cleanup >> log"};
    engine::CompiledCase unprepared = script("echo never >> log");
    unprepared.command().cwd = folder.path("");
    unprepared.command().prepare = {"exit 1"};
    const auto attempts = together({missing, surrounded, unprepared, script("exec true")});
    CHECK(attempts[0].ending == Ending::broken);
    CHECK(attempts[0].reason.find("/nonexistent/program") != std::string::npos);
    CHECK(attempts[1].ending == Ending::crashed);
    CHECK(attempts[2].ending == Ending::broken);
    CHECK(attempts[2].reason.starts_with("prepare: "));
    CHECK(attempts[3].ending == Ending::finished);
    CHECK(text_of(folder.path("log")) == "prepare\nrun\ncleanup\n");
}

TEST_CASE("the loss of one guard or supervisor costs no other program", "[unit]")
{
    // The guard is the parent of the shell, and the supervisor that of the guard.
    const auto attempts =
        together({script("kill -KILL $PPID; sleep 1000"),
                  script("read -r _ _ _ supervisor _ < /proc/$PPID/stat; kill -KILL $supervisor; sleep 1000"),
                  script("exec true")});
    CHECK(attempts[0].ending == Ending::broken);
    CHECK(attempts[0].reason == "the process that guarded it was lost");
    CHECK(attempts[1].ending == Ending::broken);
    CHECK(attempts[1].reason == "the process that supervised it was lost: killed by signal 9 (SIGKILL)");
    CHECK(attempts[2].ending == Ending::finished);
}
