#include "app/commands/this_machine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/command_line.hpp"
#include "app/commands/shipped.hpp"
#include "core/engine/runner.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/numa.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

// A sanitizer's malloc must come first, so no other can be put in front of it.
base::Expected<std::string> locate_allocator(const std::string& name)
{
    std::string library = MEMSWEEP_TRY(sys::find_allocator_library(name));
    const std::string sanitizer = model::this_tool().sanitizer;
    if (!sanitizer.empty()) {
        return refuse(
            fmt::format("this memsweep is built with the {} sanitizer, which has a malloc of its own", sanitizer),
            name);
    }
    return library;
}

std::string first_text(std::initializer_list<const char*> variables, std::string otherwise = {})
{
    for (const char* variable : variables) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return otherwise;
}

std::optional<std::uint32_t> small_count(std::string_view text)
{
    const auto number = base::parse_number(text);
    return number && *number <= UINT32_MAX ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
}

std::optional<std::uint32_t> first_number(std::initializer_list<const char*> variables)
{
    return small_count(first_text(variables));
}

// "2(x3),1": the tasks on each node of the step. Only what holds for all of them is of use here.
std::optional<std::uint32_t> tasks_on_every_node(const std::string& text)
{
    return text.find(',') == std::string::npos ? small_count(text.substr(0, text.find('('))) : std::nullopt;
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
    around.look_at_trace = scenarios::asked_once(scenarios::trace_facts);
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

model::LaunchPlace this_placement(const std::string& host)
{
    model::LaunchPlace placement;
    const bool is_mpi = !first_text({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}).empty();
    placement.node = launched_host(host);
    placement.launcher = is_mpi ? "mpi" : first_text({"SLURMD_NODENAME"}).empty() ? "" : "slurm";
    placement.job = first_text({"SLURM_JOB_ID"});
    placement.nodes = first_text({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
    placement.partition = first_text({"SLURM_JOB_PARTITION"});
    if (is_mpi) {
        placement.rank = first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
        placement.ranks = first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
        placement.local_rank = first_number({"OMPI_COMM_WORLD_LOCAL_RANK"});
        placement.local_ranks = first_number({"OMPI_COMM_WORLD_LOCAL_SIZE"});
    } else if (!first_text({"SLURM_STEP_ID"}).empty()) {  // a batch script is no rank, whatever its job asks for
        placement.rank = first_number({"SLURM_PROCID"});
        placement.ranks = first_number({"SLURM_STEP_NUM_TASKS"});
        placement.local_rank = first_number({"SLURM_LOCALID"});
        placement.local_ranks = tasks_on_every_node(first_text({"SLURM_STEP_TASKS_PER_NODE"}));
    }
    const std::string status = sys::read_kernel_text("/proc/self/status").value_or("");
    placement.cpus = sys::find_field(status, "Cpus_allowed_list").value_or("");
    placement.memory_nodes = sys::find_field(status, "Mems_allowed_list").value_or("");
    return placement;
}

std::string launched_host(const std::string& host)
{
    return first_text({"SLURMD_NODENAME"}, host);
}

std::string launched_rank()
{
    // A batch script has a SLURM_PROCID of its own, which the ranks that mpirun starts in it inherit.
    return first_text({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, "0");
}

model::RunReport new_report(const model::Machine& machine, const std::vector<std::string>& argv,
                            const std::map<std::string, std::string>& tags)
{
    model::RunReport report = model::new_report(machine, sys::utc_now(), argv);
    report.run.tags = tags;
    report.run.placement = this_placement(machine.host);
    return report;
}

}  // namespace memsweep::app
