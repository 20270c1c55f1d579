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
