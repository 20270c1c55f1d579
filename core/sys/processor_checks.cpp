#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/sys/machine_facts.hpp"
#include "core/sys/proc_text.hpp"
#include "core/sys/setting_checks.hpp"
#include "core/sys/system_devices.hpp"

namespace memsweep::sys {
namespace {

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

}  // namespace

std::vector<MachineCheck> processor_checks(const std::string& root)
{
    const model::Machine machine = machine_facts(root);
    return {governor_check(root), turbo_check(root), virtualisation_check(machine), aslr_check(machine),
            perf_check(root)};
}

}  // namespace memsweep::sys
