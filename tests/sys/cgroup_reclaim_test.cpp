#include "core/sys/cgroup_memory.hpp"

#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

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
