#include "core/sys/cgroup_memory.hpp"

#include <unistd.h>

#include <filesystem>

#include "core/sys/machine_facts.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/helper_role.hpp"
#include "tests/sys/small_pages.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using tests::mib;

namespace {

constexpr const char* v1_mount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
constexpr const char* v1_other = "34 31 0:31 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n";
constexpr const char* v2_mount = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v2_beside = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
constexpr const char* proc_mount = "22 27 0:21 / /proc rw,relatime - proc proc rw\n";
constexpr const char* unlimited_v1 = "9223372036854771712\n";

class FakeGroups : public tests::TempTree {
  public:
    FakeGroups(const std::string& mountinfo, const std::string& cgroup)
    {
        add("proc/self/mountinfo", proc_mount + mountinfo);
        add("proc/self/cgroup", cgroup);
        add("proc/meminfo", "MemTotal:       8388608 kB\nMemFree:  1 kB\nMemAvailable:   4194304 kB\n");
    }
    void v1(const std::string& group, const std::string& limit, std::uint64_t used = 0,
            std::uint64_t inactive = 0) const
    {
        const std::string directory = "sys/fs/cgroup/memory" + group;
        add(directory + "/memory.limit_in_bytes", limit);
        add(directory + "/memory.usage_in_bytes", std::to_string(used) + "\n");
        add(directory + "/memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(inactive) + "\n");
    }
    void v2(const std::string& directory, const std::string& max, const std::string& high = "max\n",
            std::uint64_t used = 0, std::uint64_t inactive = 0) const
    {
        add(directory + "/memory.max", max);
        add(directory + "/memory.high", high);
        add(directory + "/memory.current", std::to_string(used) + "\n");
        add(directory + "/memory.stat", "anon 1\ninactive_file " + std::to_string(inactive) + "\n");
    }
    [[nodiscard]] std::optional<std::uint64_t> limit() const { return sys::tightest_limit(sys::cgroup_memory(root())); }
    [[nodiscard]] std::string version() const { return sys::cgroup_memory(root()).version; }
    [[nodiscard]] std::uint64_t available() const { return sys::available_memory(root()); }
};

}  // namespace

TEST_CASE("without control groups nothing is limited", "[unit]")
{
    const FakeGroups groups{"", ""};
    CHECK(groups.version() == "none");
    CHECK_FALSE(groups.limit());
    CHECK(groups.available() == 4096 * mib);
    const tests::TempTree empty;
    CHECK(sys::cgroup_memory(empty.root()).version == "none");
    CHECK(sys::available_memory(empty.root()) == 0);
}

TEST_CASE("kills for want of memory are counted in this group and on the machine", "[unit]")
{
    const FakeGroups v2{v2_mount, "0::/a\n"};
    v2.v2("sys/fs/cgroup/a", "41943040\n");
    CHECK(sys::oom_kills(v2.root()).in_group == 0);
    v2.add("sys/fs/cgroup/a/memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 1\n");
    v2.add("proc/vmstat", "nr_free_pages 1\noom_kill 5\n");
    CHECK(sys::oom_kills(v2.root()).in_group == 2);
    CHECK(sys::oom_kills(v2.root()).on_machine == 5);

    const FakeGroups v1{v1_mount, "4:memory:/a\n"};
    v1.v1("/a", "1073741824\n");
    v1.add("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    CHECK(sys::oom_kills(v1.root()).in_group == 7);
    CHECK(sys::oom_kills(v1.root()).on_machine == 0);
}

TEST_CASE("v1: the tightest of the group and all above it holds", "[unit]")
{
    const FakeGroups groups{std::string{v1_other} + v1_mount, "5:devices:/x\n4:memory:/a/b\n"};
    groups.v1("", unlimited_v1);
    groups.v1("/a", "1073741824\n", 600 * mib, 100 * mib);
    groups.v1("/a/b", "2147483648\n", 300 * mib, 0);
    CHECK(groups.version() == "v1");
    CHECK(groups.limit() == 1024 * mib);
    CHECK(groups.available() == 524 * mib);
    groups.v1("/a/b", "314572800\n", 100 * mib, 0);
    CHECK(groups.limit() == 300 * mib);
    CHECK(groups.available() == 200 * mib);
}

TEST_CASE("v1 without a limit is no limit", "[unit]")
{
    const FakeGroups groups{v1_mount, "4:memory:/a\n"};
    groups.v1("", unlimited_v1, 100 * mib);
    groups.v1("/a", unlimited_v1, 100 * mib);
    CHECK_FALSE(groups.limit());
    CHECK(groups.available() == 4096 * mib);
}

TEST_CASE("v2: the root group has no limit file, and max is no limit", "[unit]")
{
    const FakeGroups groups{v2_mount, "0::/user.slice/job\n"};
    groups.add("sys/fs/cgroup/memory.stat", "inactive_file 1\n");
    groups.v2("sys/fs/cgroup/user.slice", "max\n", "max\n", 3000 * mib);
    groups.v2("sys/fs/cgroup/user.slice/job", "536870912\n", "max\n", 200 * mib, 50 * mib);
    CHECK(groups.version() == "v2");
    CHECK(groups.limit() == 512 * mib);
    CHECK(groups.available() == 362 * mib);
    groups.v2("sys/fs/cgroup/user.slice", "268435456\n", "max\n", 260 * mib, 0);
    CHECK(groups.limit() == 256 * mib);
    CHECK(groups.available() == 0);
}

TEST_CASE("v2: memory.high is no limit, but nothing fits beyond it without a stall", "[unit]")
{
    const FakeGroups groups{v2_mount, "0::/job\n"};
    groups.v2("sys/fs/cgroup/job", "536870912\n", "104857600\n", 20 * mib);
    CHECK(groups.limit() == 512 * mib);
    CHECK(groups.available() == 80 * mib);
    groups.v2("sys/fs/cgroup/job", "max\n", "104857600\n", 20 * mib);
    CHECK_FALSE(groups.limit());
    CHECK(groups.available() == 80 * mib);
}

TEST_CASE("hybrid: memory lies in one of the two", "[unit]")
{
    const FakeGroups groups{std::string{v1_mount} + v2_beside, "9:name=systemd:/\n4:memory:/job\n0::/job\n"};
    groups.v1("/job", "104857600\n", 10 * mib);
    groups.add("sys/fs/cgroup/unified/job/cgroup.procs", "1\n");
    CHECK(groups.version() == "hybrid");
    CHECK(groups.limit() == 100 * mib);
    CHECK(groups.available() == 90 * mib);
}

TEST_CASE("a container sees its group as the root of the mount", "[unit]")
{
    const FakeGroups groups{"35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
                            "4:memory:/docker/abc\n"};
    groups.v1("", "104857600\n");
    CHECK(groups.limit() == 100 * mib);
    groups.add("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
    groups.v1("/inner", "52428800\n");
    CHECK(groups.limit() == 50 * mib);
    groups.add("proc/self/cgroup", "4:memory:/docker/abcdef\n");  // not the same group
    CHECK(groups.limit() == 100 * mib);
}

TEST_CASE("a process outside its namespace's root is limited by what can be seen", "[unit]")
{
    const FakeGroups groups{v2_mount, "0::/../other\n"};
    groups.v2("sys/fs/cgroup", "104857600\n");
    CHECK(groups.limit() == 100 * mib);
}

TEST_CASE("a group that has been removed leaves those above it", "[unit]")
{
    const FakeGroups groups{v2_mount, "0::/job/gone (deleted)\n"};
    groups.v2("sys/fs/cgroup/job", "104857600\n");
    CHECK(groups.limit() == 100 * mib);
}

TEST_CASE("mount points are unescaped, and optional fields passed over", "[unit]")
{
    const auto mounts = sys::parse_cgroup_mounts(
        "35 31 0:32 /a\\040b /mnt/c\\134d rw shared:1 master:2 - cgroup cgroup rw,cpu,memory\n"
        "36 31 0:32 / /plain rw - cgroup cgroup rw,memory_pressure\nnonsense\n35 31\n1 2 3 4 - 5 - cgroup2 x rw\n");
    REQUIRE(mounts.size() == 2);
    CHECK(mounts[0].root == "/a b");
    CHECK(mounts[0].point == "/mnt/c\\d");
    CHECK(mounts[0].memory);
    CHECK_FALSE(mounts[0].v2);
    CHECK_FALSE(mounts[1].memory);
}

TEST_CASE("the path of a hierarchy may hold colons", "[unit]")
{
    CHECK(sys::cgroup_path("3:cpu,memory:/a:b\n0::/c:d\n", false) == "/a:b");
    CHECK(sys::cgroup_path("3:cpu,memory:/a:b\n0::/c:d\n", true) == "/c:d");
    CHECK_FALSE(sys::cgroup_path("3:cpu:/a\nnonsense\n:\n1:name=memory:/x\n", false));
    CHECK_FALSE(sys::cgroup_path("", true));
}

TEST_CASE("a real v1 group's limit is found by the process inside it", "[machine]")
{
    const std::string group = "/sys/fs/cgroup/memory/memsweep-test-" + std::to_string(::getpid());
    std::error_code failed;
    if (sys::cgroup_memory("/").version != "hybrid" || !std::filesystem::create_directory(group, failed)) {
        WARN("left out: no v1 memory group can be made here");
        return;
    }
    std::ofstream{group + "/memory.limit_in_bytes"} << 256 * mib;
    // Read from inside the group: /proc/self/cgroup of the child, our files for the rest.
    auto child = sys::ChildProcess::spawn({.argv = {"sleep", "30"}});
    REQUIRE(child);
    std::ofstream{group + "/cgroup.procs"} << child->pid();
    const tests::TempTree tree;
    const std::string proc = "/proc/" + std::to_string(child->pid());
    tree.add("proc/self/mountinfo", tests::contents(proc + "/mountinfo"));
    tree.add("proc/self/cgroup", tests::contents(proc + "/cgroup"));
    std::filesystem::create_directory_symlink("/sys", tree.path("sys"));
    const auto memory = sys::cgroup_memory(tree.root());
    child->kill_and_reap();
    for (int i = 0; i < 100 && ::rmdir(group.c_str()) != 0; ++i) {
        ::usleep(10'000);
    }
    CHECK(sys::tightest_limit(memory) == 256 * mib);
    REQUIRE_FALSE(memory.levels.empty());
    CHECK(memory.levels.front().headroom_bytes.value_or(0) <= 256 * mib);
    CHECK(memory.levels.front().headroom_bytes.value_or(0) > 200 * mib);
}

namespace {

class FakeGroup : public tests::TempTree {
  public:
    FakeGroup()
    {
        add("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
        add("proc/self/cgroup", "0::/a\n");
        add("sys/fs/cgroup/a/memory.current", "1\n");
    }
};

}  // namespace

TEST_CASE("memory.reclaim of the process's own group is told the bytes", "[unit]")
{
    const FakeGroup group;
    const std::string there = group.add("sys/fs/cgroup/a/memory.reclaim", "");
    const auto file = sys::cgroup_reclaim_file(group.root());
    REQUIRE(file);
    CHECK(*file == there);
    CHECK(sys::reclaim_from_cgroup(*file, 16'000'000));
    CHECK(tests::contents(there) == "16000000");
}

TEST_CASE("where no group can be asked, the reason is said", "[unit]")
{
    const FakeGroup group;
    const auto file = sys::cgroup_reclaim_file(group.root());
    REQUIRE_FALSE(file);
    CHECK_THAT(file.error().message, Catch::Contains("memory.reclaim") && Catch::Contains("v2"));
    CHECK_FALSE(sys::reclaim_from_cgroup(group.path("none"), 1));
}

TEST_CASE("pressure: avg10 of the line that begins with some", "[unit]")
{
    const tests::TempTree tree;
    const auto stalled = [&](std::string_view text) {
        tree.add("proc/pressure/memory", text);
        return sys::stalled_percent(tree.root(), "memory");
    };
    CHECK_FALSE(sys::stalled_percent(tree.root(), "memory"));
    CHECK(stalled("some avg10=12.34 avg60=1.00 avg300=0.00 total=9\nfull avg10=3.00 avg60=0 avg300=0 total=1\n") ==
          12.34);
    CHECK_FALSE(stalled("full avg10=3.00 avg60=0.00 avg300=0.00 total=1\n"));
    CHECK_FALSE(stalled("some avg60=3.00\n"));
    CHECK_FALSE(stalled(""));
}
