#include "core/sys/setting_checks.hpp"

#include <algorithm>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using model::Fitness;
using model::MachineCheck;

namespace {

constexpr const char* governor_of_1 = "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
constexpr const char* kdamond = "sys/kernel/mm/damon/admin/kdamonds/0/";

// A bare two-node machine on which nothing spoils.
void add_fit(const tests::TempTree& tree)
{
    tree.add("proc/cpuinfo", "processor\t: 0\nmodel name\t: Xeon\nflags\t\t: sse\n");
    tree.add("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    tree.add("proc/sys/kernel/randomize_va_space", "2\n");
    tree.add("proc/sys/kernel/perf_event_paranoid", "2\n");
    tree.add("proc/sys/kernel/numa_balancing", "0\n");
    tree.add("proc/sys/vm/overcommit_memory", "0\n");
    tree.add("proc/self/limits",
             "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  unlimited  unlimited  bytes\n");
    tree.add("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    tree.add("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    tree.add("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    tree.add("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree.add(governor_of_1, "performance\n");
    tree.add("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    tree.add("sys/devices/system/node/online", "0-1\n");
    tree.add("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
}

MachineCheck check_of(const tests::TempTree& tree, const std::string& name)
{
    const auto checks = sys::setting_checks(tree.root());
    const auto found = std::ranges::find(checks, name, &MachineCheck::name);
    INFO(name);
    REQUIRE(found != checks.end());
    return *found;
}

struct Planted {
    const char* check;
    const char* file;
    const char* text;
    Fitness status;
    const char* value;    // part of it
    const char* command;  // part of it; nullptr: none
};

}  // namespace

TEST_CASE("on a fit machine every setting is ok", "[unit]")
{
    const tests::TempTree tree;
    add_fit(tree);
    std::set<std::string> names;
    for (const MachineCheck& check : sys::setting_checks(tree.root())) {
        INFO(check.name << ": " << check.value);
        CHECK(check.status == Fitness::ok);
        CHECK_FALSE(check.value.empty());
        CHECK_FALSE(check.why.empty());
        CHECK(check.command.empty());
        CHECK(names.insert(check.name).second);
    }
    CHECK(names.size() == 14);
    // A root without its slash is the same root.
    CHECK(sys::setting_checks(tree.root().substr(0, tree.root().size() - 1)).front().value == "performance");
}

TEST_CASE("what cannot be read is a note, never a verdict", "[unit]")
{
    const tests::TempTree tree;
    for (const MachineCheck& check : sys::setting_checks(tree.root())) {
        INFO(check.name << ": " << check.value);
        CHECK(check.status != Fitness::spoils);
        CHECK((check.status == Fitness::note || !check.value.empty()));
        CHECK_FALSE(check.why.empty());
    }
}

TEST_CASE("each setting is judged by its own file", "[unit]")
{
    const Planted planted = GENERATE(values<Planted>({
        {"governor", governor_of_1, "powersave\n", Fitness::spoils, "performance, powersave", "scaling_governor"},
        {"turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", Fitness::spoils, "on", "echo 1 | sudo tee"},
        {"virtualisation", "sys/hypervisor/type", "xen\n", Fitness::note, "xen", nullptr},
        {"aslr", "proc/sys/kernel/randomize_va_space", "0\n", Fitness::note, "off", "randomize_va_space=2"},
        {"aslr", "proc/self/personality", "00040000\n", Fitness::note, "off", "setarch"},
        {"perf-events", "proc/sys/kernel/perf_event_paranoid", "4\n", Fitness::note, "4", "perf_event_paranoid=2"},
        {"perf-events", "proc/sys/kernel/perf_event_paranoid", "-1\n", Fitness::ok, "-1", nullptr},
        {"huge-pages", "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n", Fitness::spoils,
         "always", "echo madvise"},
        {"huge-pages", "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n", Fitness::note, "never",
         "echo madvise"},
        {"overcommit", "proc/sys/vm/overcommit_memory", "1\n", Fitness::note, "always", "overcommit_memory=0"},
        {"overcommit", "proc/sys/vm/overcommit_memory", "2\n", Fitness::note, "never", "overcommit_memory=0"},
        {"swap", "proc/meminfo", "SwapTotal: 1048576 kB\nSwapFree: 1048576 kB\n", Fitness::note, "0 B of 1.00 GiB",
         "swapoff"},
        {"swap", "proc/meminfo", "SwapTotal: 1048576 kB\nSwapFree: 524288 kB\n", Fitness::spoils, "512.0 MiB of",
         "swapoff"},
        {"pressure", "proc/pressure/cpu", "some avg10=12.50 avg60=0.00\n", Fitness::spoils, "cpu 12.5 %", "ps aux"},
        {"pressure", "proc/pressure/cpu", "some avg10=1.50 avg60=0.00\n", Fitness::note, "cpu 1.5 %", nullptr},
        {"pressure", "proc/pressure/memory", "some avg10=1.00 avg60=0.00\n", Fitness::spoils, "memory 1.0 %", "-rss"},
        {"pressure", "proc/pressure/memory", "some avg10=nan avg60=0.00\n", Fitness::note, "", nullptr},
        {"numa-balancing", "proc/sys/kernel/numa_balancing", "1\n", Fitness::spoils, "on", "numa_balancing=0"},
        {"locked-memory", "proc/self/limits", "Max locked memory  65536  65536  bytes\n", Fitness::note, "64.0 KiB",
         "prlimit"},
        {"damon", "sys/module/damon_reclaim/parameters/enabled", "Y\n", Fitness::spoils, "reclaim", "damon_*"},
    }));
    const tests::TempTree tree;
    add_fit(tree);
    tree.add(planted.file, planted.text);
    const MachineCheck check = check_of(tree, planted.check);
    INFO(planted.check << ": " << planted.text << check.value << "; " << check.command);
    CHECK(check.status == planted.status);
    CHECK(check.value.find(planted.value) != std::string::npos);
    CHECK(check.command.empty() == (planted.command == nullptr));
    if (planted.command != nullptr) {
        CHECK(check.command.find(planted.command) != std::string::npos);
    }
    const bool is_guest = check.name == "virtualisation";
    for (const MachineCheck& other : sys::setting_checks(tree.root())) {
        INFO(other.name);
        const bool is_own = other.name == planted.check || (is_guest && other.name == "free-page-reporting");
        CHECK((is_own || other.status == Fitness::ok));
    }
}

TEST_CASE("boost of any driver is told by the generic switch", "[unit]")
{
    const tests::TempTree tree;
    tree.add("sys/devices/system/cpu/cpufreq/boost", "1\n");
    CHECK(check_of(tree, "turbo").status == Fitness::spoils);
    CHECK(check_of(tree, "turbo").command == "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
    tree.add("sys/devices/system/cpu/cpufreq/boost", "0\n");
    CHECK(check_of(tree, "turbo").status == Fitness::ok);
}

TEST_CASE("counters are there for whoever has the capability", "[unit]")
{
    const tests::TempTree tree;
    tree.add("proc/sys/kernel/perf_event_paranoid", "4\n");
    tree.add("proc/self/status", "Name:\tmemsweep\nCapEff:\t0000000000000000\n");
    CHECK(check_of(tree, "perf-events").status == Fitness::note);
    tree.add("proc/self/status", "Name:\tmemsweep\nCapEff:\t0000004000000000\n");
    CHECK(check_of(tree, "perf-events").status == Fitness::ok);
}

TEST_CASE("balancing has nothing to balance on one node", "[unit]")
{
    const tests::TempTree tree;
    add_fit(tree);
    tree.add("proc/sys/kernel/numa_balancing", "1\n");
    tree.add("sys/devices/system/node/online", "0\n");
    CHECK(check_of(tree, "numa-balancing").status == Fitness::ok);
}

TEST_CASE("a balloon reports free pages where its driver has agreed to", "[unit]")
{
    const tests::TempTree tree;
    add_fit(tree);
    const std::string devices = "sys/bus/virtio/devices/";
    tree.add(devices + "virtio0/device", "0x0005\n");
    tree.add(devices + "virtio0/features", "0110000100000000\n");
    tree.add(devices + "virtio1/device", "0x0001\n");
    tree.add(devices + "virtio1/features", "1111111100000000\n");
    CHECK(check_of(tree, "free-page-reporting").value == "off");
    tree.add(devices + "virtio0/features", "0110010100000000\n");
    CHECK(check_of(tree, "free-page-reporting").value == "on (virtio0)");
    CHECK(check_of(tree, "free-page-reporting").status == Fitness::note);
    tree.add(devices + "virtio0/features", "011\n");
    CHECK(check_of(tree, "free-page-reporting").value == "off");
    // Another hypervisor's balloon is not seen.
    tree.add("sys/hypervisor/type", "xen\n");
    CHECK(check_of(tree, "free-page-reporting").value.empty());
    CHECK(check_of(tree, "free-page-reporting").status == Fitness::note);
}

TEST_CASE("a monitor that only counts is a note, one that pages out spoils", "[unit]")
{
    const tests::TempTree tree;
    tree.add(std::string{kdamond} + "state", "on\n");
    tree.add(std::string{kdamond} + "contexts/0/operations", "paddr\n");
    tree.add(std::string{kdamond} + "contexts/0/schemes/0/action", "stat\n");
    CHECK(check_of(tree, "damon").status == Fitness::note);
    tree.add(std::string{kdamond} + "contexts/0/schemes/0/action", "pageout\n");
    CHECK(check_of(tree, "damon").status == Fitness::spoils);
    CHECK(check_of(tree, "damon").command.find("kdamonds") != std::string::npos);
}

TEST_CASE("limits of both versions of control groups are found", "[unit]")
{
    const tests::TempTree v2;
    v2.add("proc/self/cgroup", "0::/job\n");
    v2.add("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    v2.add("sys/fs/cgroup/job/memory.max", "4294967296\n");
    v2.add("sys/fs/cgroup/job/memory.current", "1073741824\n");
    MachineCheck check = check_of(v2, "cgroup-limit");
    CHECK(check.status == Fitness::note);
    CHECK(check.value.starts_with("limit 4.00 GiB, 3.00 GiB left"));
    CHECK(check.command.find("job/memory.max") != std::string::npos);
    v2.add("sys/fs/cgroup/job/memory.high", "1610612736\n");
    check = check_of(v2, "cgroup-limit");
    CHECK(check.status == Fitness::spoils);  // it stalls half a gibibyte from here
    CHECK(check.value.find("512.0 MiB left") != std::string::npos);

    const tests::TempTree v1;
    v1.add("proc/self/cgroup", "4:memory:/job\n");
    v1.add("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    v1.add("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "536870912\n");
    v1.add("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "0\n");
    check = check_of(v1, "cgroup-limit");
    CHECK(check.status == Fitness::spoils);
    CHECK(check.command.find("memory.limit_in_bytes") != std::string::npos);
}
