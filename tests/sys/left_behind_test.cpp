#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/growing_file.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/output_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

namespace {

constexpr sys::PassingShape folders{.before = "memsweep-tried-", .after = "", .tells_boot = false, .digits = 6};

// A process of its own that runs the code and then waits for its end.
template <typename Code>
class Peer {
  public:
    explicit Peer(const Code& code)
    {
        std::array<int, 2> ready{};
        REQUIRE(::pipe2(ready.data(), O_CLOEXEC) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
                std::signal(signal, SIG_DFL);
            }
            code([&] {
                static_cast<void>(::write(ready[1], "r", 1) == 1);
                for (;;) {
                    ::pause();
                }
            });
            ::_exit(0);
        }
        ::close(ready[1]);
        char byte{};
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() { static_cast<void>(end(SIGKILL)); }

    // The signal that ended it.
    int end(int signal)
    {
        int status = 0;
        if (pid_ > 0) {
            ::kill(pid_, signal);
            ::waitpid(pid_, &status, 0);
            pid_ = 0;
        }
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_{};
};

// As the next start would: what has been looked at once in a process is not looked at again.
template <typename Code>
void in_another_process(const Code& code)
{
    const pid_t pid = ::fork();
    if (pid == 0) {
        code();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(pid, &status, 0);
    CHECK(status == 0);
}

void look_in(const std::string& folder, const sys::PassingShape& shape)
{
    in_another_process([&] { sys::remove_left_behind(folder, shape); });
}

}  // namespace

TEST_CASE("a stop signal takes the file along that is not whole", "[machine]")
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const tests::TempTree tree;
        Peer peer{[&](const auto& wait) {
            auto kept = sys::TempFile::create_in(tree.root());
            static_cast<void>(kept->commit_as(tree.path("kept")));
            const auto file = sys::TempFile::create_in(tree.root());
            const auto moved = sys::TempFile::create_in(tree.root());
            wait();
        }};
        CHECK(tree.entries() == 3);
        CHECK(peer.end(signal) == signal);
        CHECK(tree.entries() == 1);
        CHECK(std::filesystem::exists(tree.path("kept")));
    }
}

TEST_CASE("a stop signal that ends another process, or none, takes nothing along", "[machine]")
{
    const tests::TempTree tree;
    Peer peer{[&](const auto& wait) {
        std::signal(SIGHUP, SIG_IGN);
        const auto file = sys::TempFile::create_in(tree.root());
        ::raise(SIGHUP);
        const pid_t child = ::fork();
        if (child == 0) {
            ::raise(SIGTERM);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) {
            wait();
        }
    }};
    CHECK(tree.entries() == 1);
    CHECK(peer.end(SIGTERM) == SIGTERM);
    CHECK(tree.entries() == 0);
}

TEST_CASE("what a killed process left is removed, what a living one has stays", "[machine]")
{
    const tests::TempTree tree;
    const auto make = [&](const auto& wait) {
        const auto file = sys::TempFile::create_in(tree.root());
        wait();
    };
    Peer living{make};
    Peer killed{make};
    CHECK(killed.end(SIGKILL) == SIGKILL);
    CHECK(tree.entries() == 2);
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == 1);
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == 1);
    CHECK(living.end(SIGKILL) == SIGKILL);
    in_another_process([&] { static_cast<void>(sys::write_file_atomically(tree.path("next"), "x")); });
    CHECK(tree.entries() == 1);
    CHECK(tests::contents(tree.path("next")) == "x");
}

TEST_CASE("the second name of a growing file is removed, its own stays", "[machine]")
{
    const tests::TempTree tree;
    const std::string name = tree.path(sys::new_passing_name(sys::partial_files));
    Peer killed{[&](const auto& wait) {
        const auto file = sys::GrowingFile::create(tree.path("grows"));
        static_cast<void>(::link(tree.path("grows").c_str(), name.c_str()));
        wait();
    }};
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == 2);
    killed.end(SIGKILL);
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == 1);
    CHECK(std::filesystem::exists(tree.path("grows")));
}

TEST_CASE("what only looks like a file that was left stays", "[machine]")
{
    const tests::TempTree tree;
    const std::string shaped = sys::new_passing_name(sys::partial_files);
    for (const std::string& name :
         {std::string{".memsweep-.partial"}, std::string{".memsweep-0123456789abcdef.partial"},
          std::string{".memsweep-0123456789abcdef-0123456789abcdeX.partial"},
          std::string{".memsweep-0123456789abcdef_0123456789abcdef.partial"}, shaped + "2", "x" + shaped,
          std::string{"memsweep-tried-0123456789abcdef-0123456789abcdef"}}) {
        tree.add(name, "kept");
    }
    tree.add("elsewhere/kept", "kept");
    std::filesystem::create_symlink("elsewhere/kept", tree.path(sys::new_passing_name(sys::partial_files)));
    std::filesystem::create_directory_symlink("elsewhere", tree.path(sys::new_passing_name(sys::partial_files)));
    REQUIRE(::mkfifo(tree.path(sys::new_passing_name(sys::partial_files)).c_str(), 0600) == 0);
    std::size_t all = 11;
    if (::geteuid() == 0) {
        const std::string theirs = tree.add(sys::new_passing_name(sys::partial_files), "theirs");
        REQUIRE(::chown(theirs.c_str(), 65534, 65534) == 0);
        ++all;
    } else {
        std::printf("skipped: files of another user: only root can make them\n");
    }
    CHECK(tree.entries() == all);
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == all);
    CHECK(tests::contents(tree.path("elsewhere/kept")) == "kept");
    tree.add(shaped, "left");
    look_in(tree.root(), sys::partial_files);
    CHECK(tree.entries() == all);
}

TEST_CASE("a folder that a killed process left goes with all that is in it", "[machine]")
{
    const tests::TempTree tree;
    tree.add("outside/kept", "kept");
    const auto make = [&](const auto& wait) {
        ::setenv("TMPDIR", tree.root().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a fork has one thread
        const auto folder = sys::PassingFolder::make(folders);
        std::filesystem::create_directory(folder->path() + "/inner");
        std::filesystem::create_directory_symlink(tree.path("outside"), folder->path() + "/inner/link");
        wait();
    };
    Peer living{make};
    Peer killed{make};
    CHECK(tree.entries() == 3);
    killed.end(SIGKILL);
    REQUIRE(::chmod(tree.root().c_str(), 0777) == 0);
    look_in(tree.root(), folders);
    CHECK(tree.entries() == 3);  // somebody may have given this name to another folder of ours
    for (const char* const name :
         {"memsweep-tried-", "memsweep-tried-01234", "memsweep-tried-0123456", "memsweep-tried-01234g"}) {
        std::filesystem::create_directory(tree.path(name));
    }
    REQUIRE(::chmod(tree.root().c_str(), 01777) == 0);
    look_in(tree.root(), folders);
    CHECK(tree.entries() == 6);
    for (const char* const name :
         {"memsweep-tried-", "memsweep-tried-01234", "memsweep-tried-0123456", "memsweep-tried-01234g"}) {
        std::filesystem::remove(tree.path(name));
    }
    living.end(SIGKILL);
    look_in(tree.root(), folders);
    CHECK(tree.entries() == 1);
    CHECK(tests::contents(tree.path("outside/kept")) == "kept");
}

TEST_CASE("shared memory that a killed process left is removed, that of a mapping stays", "[machine]")
{
    const auto exists = [](const std::string& name) { return ::access(("/dev/shm" + name).c_str(), F_OK) == 0; };
    const std::string resembling = "/memsweep-test-" + std::to_string(::getpid());
    ::close(::shm_open(resembling.c_str(), O_CREAT | O_RDWR, 0600));
    const auto name_of = [](pid_t pid) { return "/memsweep-" + std::to_string(pid) + "-0x7f00"; };
    const auto make = [&](const auto& wait) {
        const int fd = ::shm_open(name_of(::getpid()).c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
        ::flock(fd, LOCK_EX | LOCK_NB);
        if (::ftruncate(fd, 4096) == 0 &&
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED) {
            ::close(fd);  // the mapping holds the lock
            wait();
        }
    };
    Peer living{make};
    Peer killed{make};
    const std::string left = name_of(killed.pid());
    const std::string held = name_of(living.pid());
    killed.end(SIGKILL);
    sys::remove_left_shared_memory();
    CHECK_FALSE(exists(left));
    CHECK(exists(held));
    living.end(SIGKILL);
    sys::remove_left_shared_memory();
    CHECK_FALSE(exists(held));
    CHECK(exists(resembling));
    ::shm_unlink(resembling.c_str());
}
