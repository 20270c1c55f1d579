#include "core/sys/setting_checks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/processors.hpp"

namespace memsweep::sys {
namespace {

using base::format_size;
using model::Fitness;
using model::MachineCheck;

MachineCheck governor_check(const std::string& root)
{
    const std::set<std::string> found = governors(root);
    MachineCheck check{.name = "governor",
                       .value = fmt::format("{}", fmt::join(found, ", ")),
                       .why =
                           "Any governor but performance lets the clock follow the load: a short case runs at another "
                           "frequency than a long one."};
    if (found.empty()) {
        check.why =
            "No frequency scaling is shown here; in a virtual machine the host decides, and its choice cannot be "
            "seen.";
        check.status = Fitness::note;
    } else if (found != std::set<std::string>{"performance"}) {
        check.status = Fitness::spoils;
        check.command = "echo performance | sudo tee " + system_device_path("cpu/cpu*/cpufreq/scaling_governor");
    }
    return check;
}

MachineCheck turbo_check(const std::string& root)
{
    MachineCheck check{.name = "turbo",
                       .why = "With boost the clock depends on temperature and on how many cores are busy: the first "
                              "case of a run is faster than the last."};
    const std::optional<Turbo> found = turbo(root);
    if (!found) {
        check.status = Fitness::note;
        check.why = "Whether the processor boosts is not shown here; in a virtual machine the host decides.";
        return check;
    }
    check.value = found->is_on ? "on" : "off";
    if (found->is_on) {
        check.status = Fitness::spoils;
        check.command = found->command;
    }
    return check;
}

MachineCheck virtualisation_check(const model::Machine& machine)
{
    const bool is_metal = machine.virtualisation == "none";
    return {.name = "virtualisation",
            .status = is_metal ? Fitness::ok : Fitness::note,
            .value = machine.virtualisation,
            .why = is_metal
                       ? "This is a machine of its own."
                       : "Under a hypervisor a page fault costs more and memory is shared with guests that cannot be "
                         "seen; in a container limits apply that the machine's totals do not show. Compare results "
                         "of this machine with each other only."};
}

MachineCheck aslr_check(const model::Machine& machine)
{
    MachineCheck check{.name = "aslr", .value = machine.aslr == "unknown" ? "" : machine.aslr};
    if (machine.aslr == "off") {
        check.status = Fitness::note;
        check.why = "Every repetition gets the same address layout: whether caches and pages suit it is a bias that no "
                    "number of repetitions shows.";
        check.command = "sudo sysctl kernel.randomize_va_space=2    # and do not start memsweep under setarch -R";
    } else if (check.value.empty()) {
        check.status = Fitness::note;
        check.why = "Whether repetitions have an address layout of their own is not shown here.";
    } else {
        check.why = "Every repetition has an address layout of its own, so the intervals include what layout costs.";
    }
    return check;
}

// Whether this process may use performance counters whatever perf_event_paranoid says.
bool has_perf_capability(const std::string& root)
{
    constexpr std::uint64_t sys_admin = 1ULL << 21;
    constexpr std::uint64_t perfmon = 1ULL << 38;
    const std::string status = read_kernel_text(root + "proc/self/status").value_or("");
    const std::string effective{find_field(status, "CapEff").value_or("")};
    return (std::strtoull(effective.c_str(), nullptr, 16) & (sys_admin | perfmon)) != 0;
}

MachineCheck perf_check(const std::string& root)
{
    constexpr int user_space_only = 2;
    const std::string level = read_word(root + "proc/sys/kernel/perf_event_paranoid");
    MachineCheck check{.name = "perf-events",
                       .value = level.empty() ? "" : fmt::format("perf_event_paranoid {}", level),
                       .why =
                           "Hardware counters (cache and TLB misses) say why a time changed; no time depends on them."};
    if (level.empty()) {
        check.status = Fitness::note;
        check.why += " This kernel has none.";
    } else if (std::atoi(level.c_str()) > user_space_only && !has_perf_capability(root)) {
        check.status = Fitness::note;
        check.command = "sudo sysctl kernel.perf_event_paranoid=2";
    }
    return check;
}

std::string known(const std::string& text)
{
    return text == "unknown" ? std::string{} : text;
}

MachineCheck huge_pages_check(const model::Machine& machine)
{
    MachineCheck check{
        .name = "huge-pages",
        .value = known(machine.thp),
        .why = "Transparent huge pages only where a program asks for them: memory that does not ask has 4 KiB "
               "pages every time."};
    if (machine.thp == "always") {
        check.status = Fitness::spoils;
        check.why =
            "Huge pages come wherever one happens to be free: working set, page faults and first-touch times of "
            "the same program depend on how fragmented memory is.";
        check.command = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";
    } else if (machine.thp != "madvise") {
        check.status = Fitness::note;
        check.why = "No program can have transparent huge pages here: cases that ask for them are skipped.";
        check.command =
            machine.thp == "never" ? "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" : "";
    }
    return check;
}

MachineCheck overcommit_check(const model::Machine& machine)
{
    MachineCheck check{.name = "overcommit", .value = known(machine.overcommit)};
    if (machine.overcommit == "heuristic") {
        check.why = "Memory is promised generously and found at the first touch, as on most machines.";
        return check;
    }
    check.status = Fitness::note;
    check.command = "sudo sysctl vm.overcommit_memory=0";
    check.why = machine.overcommit == "always"
                    ? "No allocation is ever refused: what runs out of memory is killed at a touch, not told at the "
                      "allocation."
                    : "Memory is promised only while it is there: large arrays are refused here that other machines "
                      "grant untouched.";
    return check;
}

MachineCheck cgroup_check(const std::string& root)
{
    constexpr std::uint64_t little = 1ULL << 30;
    const CgroupMemory memory = cgroup_memory(root);
    MachineCheck check{
        .name = "cgroup-limit",
        .value = fmt::format("none ({})", memory.version == "none" ? "no control groups" : "cgroup " + memory.version),
        .why = "A control group that is nearly full reclaims, stalls or kills what is measured."};
    const CgroupLevel* tightest = nullptr;
    for (const CgroupLevel& level : memory.levels) {
        if (level.headroom_bytes && (tightest == nullptr || *level.headroom_bytes < *tightest->headroom_bytes)) {
            tightest = &level;
        }
    }
    if (tightest == nullptr) {
        return check;
    }
    const std::string limit = tightest->limit_bytes ? "limit " + format_size(*tightest->limit_bytes) : "memory.high";
    check.value = fmt::format("{}, {} left ({})", limit, format_size(*tightest->headroom_bytes), tightest->directory);
    check.status = *tightest->headroom_bytes < little ? Fitness::spoils : Fitness::note;
    const bool is_v2 = read_kernel_text(tightest->directory + "/memory.max").has_value();
    check.command = is_v2 ? fmt::format("echo max | sudo tee {0}/memory.max {0}/memory.high", tightest->directory)
                          : fmt::format("echo -1 | sudo tee {}/memory.limit_in_bytes", tightest->directory);
    return check;
}

MachineCheck swap_check(const std::string& meminfo)
{
    constexpr std::uint64_t negligible = 64ULL << 20;
    const auto total = find_kib_field(meminfo, "SwapTotal");
    const std::uint64_t left = find_kib_field(meminfo, "SwapFree").value_or(total.value_or(0));
    MachineCheck check{.name = "swap", .why = "Without swap a working set is what was touched."};
    if (!total) {
        check.status = Fitness::note;
        check.why =
            "Memory that is swapped out leaves the working set by itself and costs a disk access to touch again.";
        return check;
    }
    if (*total == 0) {
        check.value = "none";
        return check;
    }
    const std::uint64_t used = *total - std::min(*total, left);
    check.value = fmt::format("{} of {} in use", format_size(used), format_size(*total));
    check.status = used >= negligible ? Fitness::spoils : Fitness::note;
    check.why = "Memory that is swapped out leaves the working set by itself and costs a disk access to touch again.";
    check.command = "sudo swapoff -a    # swapon -a brings it back";
    return check;
}

MachineCheck pressure_check(const std::string& root)
{
    constexpr double busy_cpu = 5;
    constexpr double any_memory = 1;
    const auto cpu = stalled_percent(root, "cpu");
    const auto memory = stalled_percent(root, "memory");
    const auto io = stalled_percent(root, "io");
    MachineCheck check{.name = "pressure",
                       .why = "Tasks that wait for a processor, for memory or for a disk wait inside what is timed."};
    if (!cpu || !memory) {
        check.status = Fitness::note;
        check.why += " This kernel does not count it; a kernel that has it starts with the parameter psi=1.";
        return check;
    }
    check.value = fmt::format("waiting in the last 10 s: cpu {:.1f} %, memory {:.1f} %, io {:.1f} %", *cpu, *memory,
                              io.value_or(0));
    if (*cpu >= busy_cpu || *memory >= any_memory) {
        check.status = Fitness::spoils;
        check.command = *memory >= any_memory ? "ps aux --sort=-rss | head    # whose memory; end what need not run"
                                              : "ps aux --sort=-pcpu | head    # who is busy; end what need not run";
    } else if (*cpu >= 1 || *memory > 0) {
        check.status = Fitness::note;
    }
    return check;
}

// Whether any of DAMON's actions moves or drops pages; "stat" only counts.
bool changes_pages(std::string_view damon)
{
    constexpr std::array<std::string_view, 9> actions{"pageout", "cold",        "reclaim",      "willneed",  "hugepage",
                                                      "lru_",    "migrate_hot", "migrate_cold", "nohugepage"};
    return std::ranges::any_of(actions, [&](std::string_view action) { return damon.find(action) != damon.npos; });
}

MachineCheck damon_check(const model::Machine& machine)
{
    MachineCheck check{.name = "damon",
                       .value = known(machine.damon),
                       .why =
                           "DAMON's schemes page out, split or move memory that is not touched for a while: residual "
                           "working sets shrink by themselves."};
    if (machine.damon == "unknown") {
        check.status = Fitness::note;
        check.why += " There are monitors here that only root may look at.";
        check.command = "sudo memsweep doctor";
    } else if (machine.damon != "off") {
        check.status = changes_pages(machine.damon) ? Fitness::spoils : Fitness::note;
        const bool by_module =
            machine.damon.find("reclaim") != std::string::npos || machine.damon.find("lru_sort") != std::string::npos;
        check.command = by_module ? "echo N | sudo tee /sys/module/damon_*/parameters/enabled"
                                  : "echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/*/state";
    }
    return check;
}

MachineCheck numa_check(const std::string& root, const model::Machine& machine)
{
    const std::string mode = read_word(root + "proc/sys/kernel/numa_balancing");
    MachineCheck check{.name = "numa-balancing",
                       .value = mode.empty()  ? "not in this kernel"
                                : mode == "0" ? "off"
                                              : "on",
                       .why = "Balancing unmaps pages to see who touches them and moves them between nodes: faults and "
                              "copies that no step asked for."};
    if (mode.empty() || mode == "0") {
        return check;
    }
    if (machine.numa_nodes < 2) {
        check.value += ", on one node";
        return check;
    }
    check.status = Fitness::spoils;
    check.command = "sudo sysctl kernel.numa_balancing=0";
    return check;
}

// "Max locked memory  8388608  8388608  bytes"
std::optional<std::string> lock_limit(const std::string& limits)
{
    constexpr std::string_view row = "Max locked memory";
    const std::size_t at = limits.find(row);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    std::string_view rest = std::string_view{limits}.substr(at + row.size());
    return std::string{take_word(rest)};
}

MachineCheck lock_check(const std::string& root)
{
    constexpr std::uint64_t enough = 64ULL << 20;
    const auto limit = lock_limit(read_kernel_text(root + "proc/self/limits").value_or(""));
    const auto bytes = limit ? base::parse_number(*limit) : std::nullopt;
    MachineCheck check{
        .name = "locked-memory",
        .value = bytes ? format_size(*bytes) : limit.value_or(""),
        .why = "Memory that must not move or be swapped, as transfers want it, can be locked up to this much "
               "(RLIMIT_MEMLOCK)."};
    if (!limit || (bytes && *bytes < enough)) {
        check.status = Fitness::note;
        check.command = limit ? "sudo prlimit --pid $$ --memlock=unlimited    # for this shell" : "";
    }
    return check;
}

// The virtio devices with a memory balloon whose driver has agreed to report free pages: device 5, feature bit 5 of the
// specification (5.5). sysfs writes features from bit 0 on.
std::vector<std::string> reporting_balloons(const std::string& root)
{
    constexpr std::string_view balloon = "0x0005";
    constexpr std::size_t reporting = 5;
    std::vector<std::string> found;
    std::error_code problem;
    for (const auto& device : std::filesystem::directory_iterator{root + "sys/bus/virtio/devices", problem}) {
        const std::string path = device.path().string();
        const std::string features = read_word(path + "/features");
        if (read_word(path + "/device") == balloon && features.size() > reporting && features[reporting] == '1') {
            found.push_back(device.path().filename().string());
        }
    }
    std::ranges::sort(found);
    return found;
}

MachineCheck reporting_check(const std::string& root, const model::Machine& machine)
{
    const std::vector<std::string> balloons = reporting_balloons(root);
    MachineCheck check{.name = "free-page-reporting",
                       .value = "off",
                       .why = "Memory that a program gives back stays with this machine."};
    if (!balloons.empty()) {
        check.status = Fitness::note;
        check.value = fmt::format("on ({})", fmt::join(balloons, ", "));
        check.why = "Freed memory goes back to the host, in large blocks: touching fresh memory costs more the more of "
                    "it is touched, and not the same from run to run. Compare within one run (--between, --against).";
    } else if (machine.virtualisation != "none") {
        check.status = Fitness::note;
        check.value.clear();
        check.why = "No virtio balloon reports free pages; whether freed memory goes back to the host in another way "
                    "is not shown here.";
    }
    return check;
}

}  // namespace

std::vector<MachineCheck> setting_checks(const std::string& root)
{
    const std::string top = with_slash(root);
    const model::Machine machine = machine_facts(top);
    const std::string meminfo = read_kernel_text(top + "proc/meminfo").value_or("");
    return {governor_check(top),
            turbo_check(top),
            virtualisation_check(machine),
            aslr_check(machine),
            perf_check(top),
            huge_pages_check(machine),
            overcommit_check(machine),
            cgroup_check(top),
            swap_check(meminfo),
            pressure_check(top),
            damon_check(machine),
            numa_check(top, machine),
            lock_check(top),
            reporting_check(top, machine)};
}

}  // namespace memsweep::sys
