#include "app/launched.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include <fmt/format.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::app {
namespace {

std::string first_text(std::initializer_list<const char*> variables)
{
    for (const char* variable : variables) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return {};
}

std::optional<std::uint32_t> first_number(std::initializer_list<const char*> variables)
{
    const auto number = sys::parse_count(first_text(variables));
    return number && *number <= UINT32_MAX ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
}

// "2(x3),1": the tasks on each node of the step. Only what holds for all of them is of use here.
std::optional<std::uint32_t> tasks_on_every_node(const std::string& text)
{
    const std::string_view first{text.data(), std::min(text.find('('), text.size())};
    const auto number = text.find(',') == std::string::npos ? sys::parse_count(first) : std::nullopt;
    return number && *number <= UINT32_MAX ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
}

bool has(const std::string& pattern, char letter)
{
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
        if (pattern[i] == '%') {
            if (pattern[++i] == letter) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

model::LaunchPlace this_placement(const std::string& host)
{
    model::LaunchPlace placement;
    const std::string slurm_node = first_text({"SLURMD_NODENAME"});
    const bool is_mpi = !first_text({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}).empty();
    placement.node = slurm_node.empty() ? host : slurm_node;
    placement.launcher = is_mpi ? "mpi" : slurm_node.empty() ? "" : "slurm";
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

std::optional<base::Error> shared_path(const std::string& pattern, const model::LaunchPlace& placement)
{
    const std::uint32_t ranks = placement.ranks.value_or(1);
    const std::uint32_t local = placement.local_ranks.value_or(1);
    const bool is_stream = pattern == "-" || pattern.starts_with("/dev/");
    if (ranks < 2 || is_stream || has(pattern, 'r')) {
        return std::nullopt;
    }
    if (!has(pattern, 'h')) {
        return base::Error{
            base::ErrorCode::invalid_input,
            fmt::format("{} ranks would write \"{}\"; %h makes it one file per host, %r per rank", ranks, pattern),
            "--out"};
    }
    if (local > 1) {
        return base::Error{base::ErrorCode::invalid_input,
                           fmt::format("{} ranks on this host would write \"{}\"; add %r", local, pattern), "--out"};
    }
    return std::nullopt;
}

}  // namespace memsweep::app
