#include "core/sys/growing_file.hpp"

#include <cerrno>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/catch.hpp"
#include "tests/sys/file_facts.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

TEST_CASE("a growing file has another name as well when it is whole", "[unit]")
{
    const tests::TempTree tree;
    const std::string out = tree.add("out", "old");
    auto file = sys::GrowingFile::create(tree.path("grows"));
    REQUIRE(file);
    CHECK_FALSE(sys::GrowingFile::create(tree.path("grows")));
    CHECK(errno == EEXIST);
    CHECK(file->append("head ") == 0);
    CHECK(file->append(std::string(3U << 20U, 'x')) == 0);
    CHECK(file->overwrite("HEAD") == 0);
    CHECK(file->append(" tail") == 0);
    CHECK(tests::contents(out) == "old");
    REQUIRE(file->appear_as(out) == 0);
    CHECK(tests::contents(out) == "HEAD " + std::string(3U << 20U, 'x') + " tail");
    CHECK(tests::inode_of(out) == tests::inode_of(tree.path("grows")));
    CHECK(tree.entries() == 2);
}

TEST_CASE("a growing file stays when it cannot have its other name, or is let go of", "[unit]")
{
    const tests::TempTree tree;
    {
        auto file = sys::GrowingFile::create(tree.path("grows"));
        REQUIRE(file);
        CHECK(file->append("kept") == 0);
        CHECK(file->appear_as(tree.path("no/such/folder")) == ENOENT);
        struct stat here {};
        struct stat there {};
        REQUIRE(::stat(tree.root().c_str(), &here) == 0);
        if (::stat("/dev/shm", &there) == 0 && here.st_dev != there.st_dev) {
            CHECK(file->appear_as("/dev/shm/memsweep-test") == EXDEV);
        } else {
            WARN("not tested: the other name on another file system, of which there is none");
        }
    }
    CHECK(tests::contents(tree.path("grows")) == "kept");
    CHECK(tree.entries() == 1);
}

TEST_CASE("a piece for which there is no room is not in a growing file at all", "[unit]")
{
    const tests::TempTree tree;
    auto file = sys::GrowingFile::create(tree.path("grows"));
    REQUIRE(file);
    REQUIRE(file->append("whole") == 0);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const int problem = file->append(std::string(10'000, 'x'));
    const int fits = file->append(", and more");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(problem == EFBIG);
    CHECK(fits == 0);
    CHECK(tests::contents(tree.path("grows")) == "whole, and more");
}
