#include <atomic>
#include <thread>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/output_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/file_facts.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

namespace {

// A file system of its own with room for this much; absent where mounting is not allowed.
class SmallDisk {
  public:
    SmallDisk(const tests::TempTree& tree, const std::string& size) : point_{tree.path("disk")}
    {
        ::mkdir(point_.c_str(), 0700);
        mounted_ = ::mount("tmpfs", point_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk()
    {
        if (mounted_) {
            ::umount2(point_.c_str(), MNT_DETACH);
        }
    }
    [[nodiscard]] bool mounted() const { return mounted_; }

  private:
    std::string point_;
    bool mounted_;
};

// Root's rights laid down for a while.
class NotRoot {
  public:
    NotRoot() : before_{::geteuid()}
    {
        constexpr uid_t nobody = 65534;
        static_cast<void>(before_ == 0 && ::seteuid(nobody) == 0);
    }
    NotRoot(const NotRoot&) = delete;
    NotRoot& operator=(const NotRoot&) = delete;
    ~NotRoot() { static_cast<void>(::seteuid(before_) == 0); }

  private:
    uid_t before_;
};

// The largest file that this process may write.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes)
    {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit smaller{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &smaller);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("a failure in the middle leaves the old file and nothing else", "[machine]")
{
    const tests::TempTree tree;
    const std::string path = tree.add("file", "old");
    const FileSizeLimit limit{10'000};
    const auto written = sys::write_file_atomically(path, std::string(20'000, 'x'));
    CHECK(tests::message_of(written) == path + ": cannot write: File too large");
    CHECK(tests::contents(path) == "old");
    CHECK(tree.entries() == 1);
    CHECK(tests::message_of(sys::check_writable(path, 20'000)).find("File too large") != std::string::npos);
    CHECK(sys::check_writable(path, 10'000));
    CHECK(tree.entries() == 1);
}

TEST_CASE("a full disk leaves the old file and nothing else", "[machine]")
{
    const tests::TempTree tree;
    const SmallDisk disk{tree, "128k"};
    if (!disk.mounted()) {
        WARN("left out: no tmpfs can be mounted here; RLIMIT_FSIZE and /dev/full stand for the full disk");
        return;
    }
    const std::string path = tree.add("disk/file", "old");
    const auto written = sys::write_file_atomically(path, std::string(200'000, 'x'));
    CHECK(tests::message_of(written) == path + ": cannot write: No space left on device");
    CHECK(tests::contents(path) == "old");
    CHECK(tree.entries("disk") == 1);
    CHECK(tests::message_of(sys::check_writable(path, 200'000)) ==
          path + ": cannot reserve 195.3 KiB: No space left on device");
    CHECK(sys::check_writable(path, 50'000));
    CHECK(tests::contents(path) == "old");
    CHECK(tree.entries("disk") == 1);
    CHECK(sys::write_file_atomically(path, std::string(50'000, 'x')));
}

TEST_CASE("a write-protected file or directory is refused", "[machine]")
{
    const NotRoot user;
    if (::geteuid() == 0) {
        WARN("left out: root may write everywhere, and cannot become anybody else here");
        return;
    }
    const tests::TempTree tree;
    const std::string path = tree.add("file", "old");
    ::chmod(path.c_str(), 0444);
    CHECK(tests::message_of(sys::write_file_atomically(path, "x")) == path + ": cannot write: Permission denied");
    CHECK_FALSE(sys::check_writable(path, 1));
    tree.add("closed/file", "old");
    ::chmod(tree.path("closed").c_str(), 0555);
    CHECK_FALSE(sys::check_writable(tree.path("closed/new"), 1));
    CHECK_FALSE(sys::write_file_atomically(tree.path("closed/file"), "x"));
    ::chmod(tree.path("closed").c_str(), 0755);
}

TEST_CASE("checking makes missing directories and leaves nothing else", "[unit]")
{
    const tests::TempTree tree;
    CHECK(sys::check_writable(tree.path("a/b/c/file"), 10'000));
    CHECK(tree.entries("a/b/c") == 0);
    CHECK(sys::write_file_atomically(tree.path("a/b/c/file"), "x"));
    const ino_t before = tests::inode_of(tree.path("a/b/c/file"));
    CHECK(sys::check_writable(tree.path("a/b/c/file"), 0));
    CHECK(tests::contents(tree.path("a/b/c/file")) == "x");
    CHECK(tests::inode_of(tree.path("a/b/c/file")) == before);
    CHECK(tree.entries("a/b/c") == 1);
}

TEST_CASE("checking in vain takes back the directories that it made", "[unit]")
{
    const tests::TempTree tree;
    tree.add("file", "x");
    CHECK_FALSE(sys::check_writable(tree.path("new/deep/file"), 1ULL << 62));
    CHECK_FALSE(sys::check_writable(tree.path("file/deep/file"), 1));
    CHECK_FALSE(sys::check_writable(tree.path("new/"), 1));
    CHECK(tree.entries() == 1);
    CHECK(tests::message_of(sys::check_writable("/proc/nowhere/file", 1)).find("cannot make its directory") !=
          std::string::npos);
    CHECK(sys::check_writable("/dev/null", 1));
    CHECK(sys::check_writable("-", 1));
}

TEST_CASE("readers see the old file or a new one, never a part", "[machine]")
{
    const tests::TempTree tree;
    const std::string path = tree.add("file", std::string(50'000, 'a'));
    std::atomic<bool> done{false};
    std::thread writer{[&] {
        for (int i = 0; i < 50; ++i) {
            static_cast<void>(sys::write_file_atomically(path, std::string(50'000, static_cast<char>('a' + i % 26))));
        }
        done = true;
    }};
    bool whole = true;
    while (!done) {
        const std::string text = tests::contents(path);
        whole = whole && text.size() == 50'000 && text.find_first_not_of(text.front()) == std::string::npos;
    }
    writer.join();
    CHECK(whole);
    CHECK(tree.entries() == 1);
}

TEST_CASE("what somebody else may have planted where everybody writes is refused", "[machine]")
{
    if (::geteuid() != 0) {
        std::printf("skipped: planted links: only root can make another user's files\n");
        return;
    }
    constexpr uid_t nobody = 65534;
    const tests::TempTree tree;
    ::chmod(tree.root().c_str(), 0755);
    tree.add("private/target", "safe");
    tree.add("private/folder/target", "safe");
    tree.add("shared/theirs", "theirs");
    tree.add("shared/ours", "ours");
    const std::string shared = tree.path("shared");
    const auto link = [&](const std::string& to, const std::string& name, uid_t owner) {
        REQUIRE(::symlink(tree.path(to).c_str(), (shared + "/" + name).c_str()) == 0);
        REQUIRE(::lchown((shared + "/" + name).c_str(), owner, owner) == 0);
    };
    link("private/target", "their-link", nobody);
    link("private/new", "their-dangling-link", nobody);
    link("private/folder", "their-folder", nobody);
    link("shared/their-link", "our-link-to-theirs", 0);
    link("private/target", "our-link", 0);
    link("private/folder", "our-folder", 0);
    REQUIRE(::mkfifo((shared + "/their-pipe").c_str(), 0666) == 0);
    REQUIRE(::chown((shared + "/their-pipe").c_str(), nobody, nobody) == 0);
    REQUIRE(::chown((shared + "/theirs").c_str(), nobody, nobody) == 0);

    for (const mode_t mode : {01777U, 01775U}) {
        REQUIRE(::chmod(shared.c_str(), mode) == 0);
        for (const char* const name : {"their-link", "their-dangling-link", "their-folder/target",
                                       "their-folder/new/deep", "our-link-to-theirs", "theirs", "their-pipe"}) {
            const std::string path = shared + "/" + name;
            INFO(path);
            CHECK(tests::message_of(sys::write_file_atomically(path, "x")).find("of user 65534") != std::string::npos);
            CHECK(tests::message_of(sys::check_writable(path, 1)).find("of user 65534") != std::string::npos);
            CHECK_FALSE(sys::open_output(path, sys::Start::at_its_end));
            CHECK_FALSE(sys::open_output(path, sys::Start::anew));
        }
    }
    CHECK(tests::contents(tree.path("private/target")) == "safe");
    CHECK(tests::contents(tree.path("private/folder/target")) == "safe");
    CHECK(tests::contents(shared + "/theirs") == "theirs");
    CHECK(tree.entries("private") == 2);
    CHECK(tree.entries("private/folder") == 1);

    CHECK(sys::write_file_atomically(shared + "/our-link", "1"));
    CHECK(tests::contents(tree.path("private/target")) == "1");
    CHECK(sys::write_file_atomically(shared + "/our-folder/target", "2"));
    CHECK(tests::contents(tree.path("private/folder/target")) == "2");
    CHECK(sys::write_file_atomically(shared + "/ours", "3"));
    CHECK(sys::write_file_atomically(shared + "/new", "4"));

    // The folder's owner may do as he likes in it, and so may everybody where a name is its owner's alone.
    REQUIRE(::chown(shared.c_str(), nobody, nobody) == 0);
    CHECK(sys::write_file_atomically(shared + "/their-link", "5"));
    CHECK(tests::contents(tree.path("private/target")) == "5");
    REQUIRE(::chown(shared.c_str(), 0, 0) == 0);
    REQUIRE(::chmod(shared.c_str(), 0777) == 0);
    CHECK(sys::write_file_atomically(shared + "/theirs", "6"));
}

TEST_CASE("a log is begun anew or gone on with, through the user's own links too", "[unit]")
{
    const tests::TempTree tree;
    const std::string path = tree.path("log");
    std::filesystem::create_symlink("log", tree.path("link"));
    const auto write = [](const std::string& to, sys::Start start, std::string_view text) {
        const auto file = sys::open_output(to, start);
        REQUIRE(file);
        CHECK(sys::write_all(file->get(), text) == 0);
    };
    write(tree.path("link"), sys::Start::anew, "one ");
    write(path, sys::Start::at_its_end, "two ");
    write(tree.path("link"), sys::Start::at_its_end, "three");
    CHECK(tests::contents(path) == "one two three");
    write(tree.path("link"), sys::Start::anew, "new");
    CHECK(tests::contents(path) == "new");
    CHECK(std::filesystem::is_symlink(tree.path("link")));
    CHECK_FALSE(sys::open_output(tree.path("no/such"), sys::Start::anew));
    CHECK_FALSE(sys::open_output(tree.root(), sys::Start::anew));
}
