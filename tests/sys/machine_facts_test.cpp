#include "core/sys/machine_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

namespace {

constexpr const char* xeon =
    "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Gold 6150\nflags\t\t: fpu sse hypervisors\n\n"
    "processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6150\nflags\t\t: fpu sse\n";
constexpr const char* guest = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor sse\n";
constexpr const char* graviton = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

// A bare two-node machine.
void add_metal(const tests::TempTree& tree)
{
    tree.add("proc/cpuinfo", xeon);
    tree.add("proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:   8388608 kB\nSwapTotal:  1024 kB\n");
    tree.add("proc/sys/kernel/hostname", "node1\n");
    tree.add("proc/sys/kernel/ostype", "Linux\n");
    tree.add("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    tree.add("proc/sys/kernel/randomize_va_space", "2\n");
    tree.add("proc/sys/vm/overcommit_memory", "0\n");
    tree.add("sys/devices/system/cpu/online", "0-11,24-35\n");
    tree.add("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree.add("sys/devices/system/node/online", "0-1\n");
    tree.add("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    tree.add("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
    tree.add("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    tree.add("sys/class/dmi/id/product_name", "PowerEdge R740\n");
}

std::string virtualisation_of(const char* cpuinfo, const std::string& vendor, const std::string& product)
{
    const tests::TempTree tree;
    tree.add("proc/cpuinfo", cpuinfo);
    tree.add("sys/class/dmi/id/sys_vendor", vendor + "\n");
    tree.add("sys/class/dmi/id/product_name", product + "\n");
    return sys::machine_facts(tree.root()).virtualisation;
}

void add_kdamond(const tests::TempTree& tree, int number, const std::string& state, const std::string& operations)
{
    const std::string base = "sys/kernel/mm/damon/admin/kdamonds/" + std::to_string(number);
    tree.add(base + "/state", state + "\n");
    tree.add(base + "/contexts/0/operations", operations + "\n");
}

}  // namespace

TEST_CASE("the facts of a machine are read from its files", "[unit]")
{
    const tests::TempTree tree;
    add_metal(tree);
    const model::Machine machine = sys::machine_facts(tree.root());
    CHECK(machine.host == "node1");
    CHECK(machine.kernel == "Linux 6.1.0-18-amd64");
    CHECK(machine.cpu == "Intel(R) Xeon(R) Gold 6150");
    CHECK(machine.cores == 24);
    CHECK(machine.numa_nodes == 2);
    CHECK(machine.page_size == sys::page_size());
    CHECK(machine.thp == "madvise");
    CHECK(machine.overcommit == "heuristic");
    CHECK(machine.memory_bytes == 16ULL << 30);
    CHECK_FALSE(machine.cgroup_memory_max);
    CHECK(machine.cgroup_version == "none");
    CHECK(machine.governor == "performance");
    CHECK(machine.aslr == "full");
    CHECK(machine.swap_bytes == 1U << 20);
    CHECK(machine.virtualisation == "none");
    CHECK(machine.damon == "off");
    CHECK(machine.devices.empty());
    CHECK(machine.fingerprint.empty());
    CHECK(sys::available_memory(tree.root()) == 8ULL << 30);
    CHECK(sys::huge_page_bytes(tree.root()) == 2U << 20);
    // A root without its slash is the same root.
    CHECK(sys::machine_facts(tree.root().substr(0, tree.root().size() - 1)).host == "node1");
}

TEST_CASE("an empty system has no facts, and that is no error", "[unit]")
{
    const tests::TempTree tree;
    const model::Machine machine = sys::machine_facts(tree.root());
    CHECK(machine.host == "unknown");
    CHECK(machine.kernel == "unknown");
    CHECK(machine.cpu == "unknown");
    CHECK(machine.cores == 0);
    CHECK(machine.numa_nodes == 1);
    CHECK(machine.thp == "unknown");
    CHECK(machine.overcommit == "unknown");
    CHECK(machine.memory_bytes == 0);
    CHECK(machine.governor.empty());
    CHECK(machine.aslr == "unknown");
    CHECK(machine.virtualisation == "none");
    CHECK(machine.damon == "off");
    CHECK(sys::huge_page_bytes(tree.root()) == 0);
}

TEST_CASE("settings have their names", "[unit]")
{
    const tests::TempTree tree;
    tree.add("proc/cpuinfo", xeon);
    tree.add("proc/sys/vm/overcommit_memory", "2\n");
    tree.add("proc/sys/kernel/randomize_va_space", "1\n");
    tree.add("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    model::Machine machine = sys::machine_facts(tree.root());
    CHECK(machine.overcommit == "never");
    CHECK(machine.aslr == "partial");
    CHECK(machine.thp == "always");
    CHECK(machine.cores == 2);  // counted in cpuinfo, where sysfs has no list
    tree.add("proc/sys/vm/overcommit_memory", "1\n");
    tree.add("proc/self/personality", "00040000\n");
    machine = sys::machine_facts(tree.root());
    CHECK(machine.overcommit == "always");
    CHECK(machine.aslr == "off");  // of this process, whatever the system does
}

TEST_CASE("an arm64 machine is named by its maker and part", "[unit]")
{
    const tests::TempTree tree;
    tree.add("proc/cpuinfo", graviton);
    CHECK(sys::machine_facts(tree.root()).cpu == "arm64 implementer 0x41 part 0xd0c");
}

TEST_CASE("hypervisors are told by flag and maker", "[unit]")
{
    CHECK(virtualisation_of(xeon, "Dell Inc.", "PowerEdge R740") == "none");
    CHECK(virtualisation_of(guest, "QEMU", "Standard PC (Q35 + ICH9, 2009)") == "qemu");
    CHECK(virtualisation_of(guest, "Red Hat", "KVM") == "kvm");
    CHECK(virtualisation_of(guest, "VMware, Inc.", "VMware Virtual Platform") == "vmware");
    CHECK(virtualisation_of(guest, "innotek GmbH", "VirtualBox") == "virtualbox");
    CHECK(virtualisation_of(guest, "Microsoft Corporation", "Virtual Machine") == "hyper-v");
    CHECK(virtualisation_of(xeon, "Microsoft Corporation", "Surface Pro") == "none");
    CHECK(virtualisation_of(guest, "Amazon EC2", "m5.large") == "amazon");
    CHECK(virtualisation_of(xeon, "Amazon EC2", "m5.metal") == "none");
    CHECK(virtualisation_of(graviton, "Amazon EC2", "c7g.large") == "amazon");
    CHECK(virtualisation_of(graviton, "Amazon EC2", "c7g.metal") == "none");
    CHECK(virtualisation_of(guest, "", "") == "hypervisor");
    CHECK(virtualisation_of(graviton, "", "") == "none");
}

TEST_CASE("Xen, WSL and containers leave their own marks", "[unit]")
{
    const tests::TempTree xen;
    xen.add("sys/hypervisor/type", "xen\n");
    CHECK(sys::machine_facts(xen.root()).virtualisation == "xen");
    const tests::TempTree wsl;
    wsl.add("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
    wsl.add("proc/cpuinfo", guest);
    CHECK(sys::machine_facts(wsl.root()).virtualisation == "wsl");
    const tests::TempTree docker;
    docker.add("proc/cpuinfo", guest);
    docker.add("sys/class/dmi/id/product_name", "KVM\n");
    docker.add(".dockerenv", "");
    CHECK(sys::machine_facts(docker.root()).virtualisation == "kvm+docker");
    const tests::TempTree pod;
    pod.add("proc/1/cgroup", "4:memory:/kubepods/burstable/pod1\n");
    CHECK(sys::machine_facts(pod.root()).virtualisation == "kubernetes");
    const tests::TempTree nspawn;
    nspawn.add("run/systemd/container", "systemd-nspawn\n");
    CHECK(sys::machine_facts(nspawn.root()).virtualisation == "systemd-nspawn");
    const tests::TempTree podman;
    podman.add("run/.containerenv", "");
    CHECK(sys::machine_facts(podman.root()).virtualisation == "podman");
}

TEST_CASE("what DAMON does is told, running monitors only", "[unit]")
{
    const tests::TempTree tree;
    add_kdamond(tree, 0, "on", "paddr");
    const std::string schemes = "sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/";
    tree.add(schemes + "0/action", "pageout\n");
    CHECK(sys::machine_facts(tree.root()).damon == "paddr: pageout");
    tree.add(schemes + "1/action", "stat\n");
    add_kdamond(tree, 1, "off", "vaddr");
    add_kdamond(tree, 2, "on", "vaddr");
    CHECK(sys::machine_facts(tree.root()).damon == "paddr: pageout, stat; vaddr");
    tree.add("sys/module/damon_reclaim/parameters/enabled", "Y\n");
    tree.add("sys/module/damon_lru_sort/parameters/enabled", "N\n");
    CHECK(sys::machine_facts(tree.root()).damon == "paddr: pageout, stat; vaddr; reclaim");
    const tests::TempTree hidden;
    hidden.add("sys/kernel/mm/damon/admin/kdamonds/0/pid", "");  // a state that cannot be read
    CHECK(sys::machine_facts(hidden.root()).damon == "unknown");
}

TEST_CASE("this machine's facts agree with what else the system says", "[machine]")
{
    const model::Machine machine = sys::machine_facts();
    utsname names{};
    REQUIRE(::uname(&names) == 0);
    CHECK(machine.host == names.nodename);
    CHECK(machine.kernel == std::string{names.sysname} + " " + names.release);
    CHECK(machine.cpu != "unknown");
    CHECK(machine.cores == static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
    CHECK(machine.numa_nodes >= 1);
    CHECK(machine.memory_bytes / machine.page_size == static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)));
    const std::uint64_t available = sys::available_memory();
    CHECK(available > 0);
    CHECK(available <= machine.memory_bytes);
    CHECK(machine.cgroup_memory_max.value_or(machine.memory_bytes) > 0);
}
