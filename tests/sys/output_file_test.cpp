#include "core/sys/output_file.hpp"

#include <array>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/file_facts.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

TEST_CASE("a new file has the content, the umask's mode and no companions", "[unit]")
{
    const tests::TempTree tree;
    const mode_t before = ::umask(027);
    const std::string content{"a\0b\n", 4};
    CHECK(sys::write_file_atomically(tree.path("new"), content));
    ::umask(before);
    CHECK(tests::contents(tree.path("new")) == content);
    CHECK(tests::mode_of(tree.path("new")) == 0640);
    CHECK(sys::write_file_atomically(tree.path("empty"), ""));
    CHECK(tests::contents(tree.path("empty")).empty());
    CHECK(tree.entries() == 2);
}

TEST_CASE("a replaced file keeps its mode and is another file", "[unit]")
{
    const tests::TempTree tree;
    const std::string path = tree.add("file", "old and longer");
    ::chmod(path.c_str(), 0604);
    const ino_t before = tests::inode_of(path);
    const sys::UniqueFd reader{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    REQUIRE(sys::write_file_atomically(path, "new"));
    CHECK(tests::contents(path) == "new");
    CHECK(tests::mode_of(path) == 0604);
    CHECK(tests::inode_of(path) != before);
    CHECK(tree.entries() == 1);
    std::array<char, 20> text{};
    CHECK(::read(reader.get(), text.data(), text.size()) == 14);  // who had it open reads the old one to its end
}

TEST_CASE("a file in the current directory needs no slash", "[unit]")
{
    const tests::TempTree tree;
    std::array<char, 4096> before{};
    REQUIRE(::getcwd(before.data(), before.size()) != nullptr);
    REQUIRE(::chdir(tree.root().c_str()) == 0);
    const auto checked = sys::check_writable("plain", 10);
    const auto written = sys::write_file_atomically("plain", "x");
    REQUIRE(::chdir(before.data()) == 0);
    CHECK(checked);
    CHECK(written);
    CHECK(tests::contents(tree.path("plain")) == "x");
}

TEST_CASE("a symbolic link stays and its target is replaced", "[unit]")
{
    const tests::TempTree tree;
    tree.add("real/file", "old");
    REQUIRE(::symlink("real/file", tree.path("link").c_str()) == 0);
    REQUIRE(::symlink((tree.root() + "link").c_str(), tree.path("link-to-link").c_str()) == 0);
    REQUIRE(sys::write_file_atomically(tree.path("link-to-link"), "new"));
    CHECK(tests::contents(tree.path("real/file")) == "new");
    CHECK(std::filesystem::is_symlink(tree.path("link")));
    CHECK(std::filesystem::is_symlink(tree.path("link-to-link")));

    REQUIRE(::symlink("real/later", tree.path("dangling").c_str()) == 0);
    REQUIRE(sys::write_file_atomically(tree.path("dangling"), "made"));
    CHECK(tests::contents(tree.path("real/later")) == "made");
    CHECK(tree.entries("real") == 2);

    REQUIRE(::symlink("b", tree.path("a").c_str()) == 0);
    REQUIRE(::symlink("a", tree.path("b").c_str()) == 0);
    CHECK(tests::message_of(sys::write_file_atomically(tree.path("a"), "x")).find("symbolic links") !=
          std::string::npos);
}

TEST_CASE("what is no regular file is written straight through", "[unit]")
{
    const tests::TempTree tree;
    CHECK(sys::write_file_atomically("/dev/null", "x"));
    REQUIRE(::mkfifo(tree.path("pipe").c_str(), 0600) == 0);
    const sys::UniqueFd reader{::open(tree.path("pipe").c_str(), O_RDWR | O_CLOEXEC)};
    REQUIRE(sys::write_file_atomically(tree.path("pipe"), "hello"));
    std::array<char, 10> text{};
    CHECK(::read(reader.get(), text.data(), text.size()) == 5);
    CHECK(tree.entries() == 1);
    const auto full = sys::write_file_atomically("/dev/full", "x");
    CHECK(tests::message_of(full) == "/dev/full: cannot write: No space left on device");
    CHECK(full.error().code == base::ErrorCode::io);
}

TEST_CASE("a descriptor's name means the descriptor, where it stands", "[unit]")
{
    const tests::TempTree tree;
    const sys::UniqueFd file{::open(tree.add("file", "head ").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)};
    const ino_t before = tests::inode_of(tree.path("file"));
    const std::string number = std::to_string(file.get());
    CHECK(sys::write_file_atomically("/dev/fd/" + number, "one "));
    CHECK(sys::write_file_atomically("/proc/self/fd/" + number, "two"));
    CHECK(sys::check_writable("/dev/fd/" + number, 10));
    CHECK(tests::contents(tree.path("file")) == "head one two");
    CHECK(tests::inode_of(tree.path("file")) == before);
    CHECK_FALSE(sys::write_file_atomically("/dev/fd/987654", "x"));
    CHECK_FALSE(sys::check_writable("/dev/fd/987654", 1));
    const sys::UniqueFd reader{::open(tree.path("file").c_str(), O_RDONLY | O_CLOEXEC)};
    CHECK_FALSE(sys::check_writable("/dev/fd/" + std::to_string(reader.get()), 1));
}

TEST_CASE("impossible places are errors that name path and cause", "[unit]")
{
    const tests::TempTree tree;
    tree.add("file", "x");
    struct Refusal {
        std::string path;
        std::string cause;
    };
    for (const Refusal& refusal :
         {Refusal{tree.path("missing/file"), "No such file or directory"},
          Refusal{tree.path("file/below"), "Not a directory"}, Refusal{tree.root(), "Is a directory"},
          Refusal{tree.root() + "new/", "Is a directory"}, Refusal{"", "No such file or directory"},
          Refusal{tree.path(std::string(300, 'x')), "File name too long"}}) {
        CAPTURE(refusal.path);
        const auto written = sys::write_file_atomically(refusal.path, "x");
        REQUIRE_FALSE(written);
        CHECK(written.error().where == refusal.path);
        CHECK(written.error().message == "cannot write: " + refusal.cause);
    }
    CHECK(tree.entries() == 1);
}

TEST_CASE("a content in pieces is written in their order, and ends where one is not taken", "[unit]")
{
    const tests::TempTree tree;
    const std::string path = tree.path("pieces");
    REQUIRE(sys::write_file_atomically(path, [](const sys::PieceTaker& take) {
        CHECK(take("one, "));
        CHECK(take(""));
        CHECK(take("two"));
    }));
    CHECK(tests::contents(path) == "one, two");

    int asked = 0;
    const auto full = sys::write_file_atomically("/dev/full", [&](const sys::PieceTaker& take) {
        while (++asked < 10 && take("x")) {
        }
    });
    REQUIRE_FALSE(full);
    CHECK(full.error().message == "cannot write: No space left on device");
    CHECK(asked == 1);
}
