#include "app/commands/this_machine.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/shipped.hpp"
#include "core/engine/runner.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/numa.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

// A sanitizer's malloc must come first, so no other can be put in front of it.
base::Expected<std::string> locate_allocator(const std::string& name)
{
    auto library = sys::find_allocator_library(name);
    const std::string sanitizer = model::this_tool().sanitizer;
    if (library && !sanitizer.empty()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("this memsweep is built with the {} sanitizer, which has a malloc of its own", sanitizer),
            name);
    }
    return library;
}

}  // namespace

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
    around.look_at_trace = [known = std::make_shared<std::map<std::string, scenarios::TraceFacts>>()](
                               const std::string& path) -> base::Expected<scenarios::TraceFacts> {
        if (const auto found = known->find(path); found != known->end()) {
            return found->second;
        }
        auto facts = scenarios::trace_facts(path);
        if (facts) {
            known->emplace(path, *facts);
        }
        return facts;
    };
    return around;
}

engine::Capabilities capabilities(const model::Machine& machine)
{
    engine::Capabilities has;
    has.memory_bytes = sys::available_memory();
    has.numa_nodes = machine.numa_nodes;
    has.page_bytes = machine.page_size;
    has.weighted_interleave = sys::has_weighted_interleave();
    has.huge_page_bytes = machine.thp == "always" || machine.thp == "madvise" ? sys::huge_page_bytes() : 0;
    has.locate_allocator = locate_allocator;
    has.swap_bytes = machine.swap_bytes;
    if (const auto file = sys::cgroup_reclaim_file("/"); !file) {
        has.no_reclaim = base::describe(file.error());
    }
    return has;
}

}  // namespace memsweep::app
