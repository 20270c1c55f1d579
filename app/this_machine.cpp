#include "app/this_machine.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/shipped.hpp"
#include "core/sys/machine_facts.hpp"
#include "scenarios/fingerprint.hpp"

namespace memsweep::app {

model::Machine this_machine()
{
    model::Machine machine = sys::machine_facts();
    const std::uint64_t whole_gib = (machine.memory_bytes + (1ULL << 29)) >> 30;
    machine.fingerprint =
        scenarios::sha256(fmt::format("{}|{}|{}|{}|{}|{}", machine.cpu, machine.cores, machine.numa_nodes,
                                      machine.page_size, whole_gib, fmt::join(machine.devices, ",")));
    return machine;
}

scenarios::Surroundings surroundings(const model::Machine& machine)
{
    scenarios::Surroundings around;
    around.ncpus = machine.cores;
    around.page_size_bytes = machine.page_size;
    around.memory_bytes = std::min(machine.memory_bytes, machine.cgroup_memory_max.value_or(machine.memory_bytes));
    around.numa_nodes = machine.numa_nodes;
    around.devices = machine.devices.size();
    around.profile_folder = shipped("configs/runtimes");
    return around;
}

engine::Capabilities capabilities(const model::Machine& machine)
{
    engine::Capabilities has;
    has.memory_bytes = sys::available_memory();
    has.numa_nodes = machine.numa_nodes;
    has.devices = machine.devices.size();
    has.page_bytes = machine.page_size;
    has.huge_page_bytes = machine.thp == "always" || machine.thp == "madvise" ? sys::huge_page_bytes() : 0;
    return has;
}

}  // namespace memsweep::app
