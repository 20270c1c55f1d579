#include "app/commands/result_path.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include <fmt/format.h>

#include "core/sys/file_text.hpp"

namespace memsweep::app {
namespace {

std::string first_text(std::initializer_list<const char*> variables, std::string otherwise = {})
{
    for (const char* variable : variables) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return otherwise;
}

std::optional<std::uint32_t> first_number(std::initializer_list<const char*> variables)
{
    const auto number = base::parse_number(first_text(variables));
    return number && *number <= UINT32_MAX ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
}

// "2(x3),1": the tasks on each node of the step. Only what holds for all of them is of use here.
std::optional<std::uint32_t> tasks_on_every_node(const std::string& text)
{
    const std::string_view first{text.data(), std::min(text.find('('), text.size())};
    const auto number = text.find(',') == std::string::npos ? base::parse_number(first) : std::nullopt;
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

// 2026-01-31T12:00:00.000Z -> 20260131T120000Z, which any file system takes.
std::string compact(const std::string& utc)
{
    std::string text;
    for (const char c : utc.substr(0, utc.find('.'))) {
        if (c != '-' && c != ':' && c != 'Z') {
            text += c;
        }
    }
    return text + "Z";
}

// A host or scenario name must not reach into another folder.
std::string file_name(std::string text)
{
    for (char& c : text) {
        if (c == '/' || std::iscntrl(static_cast<unsigned char>(c)) != 0) {
            c = '_';
        }
    }
    return text;
}

}  // namespace

base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts)
{
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            path += pattern[i];
            continue;
        }
        const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
        switch (letter) {
        case 'h':
            path += file_name(first_text({"SLURMD_NODENAME"}, facts.host));
            break;
        case 'r':
            path += file_name(first_text({"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}, "0"));
            break;
        case 's':
            path += file_name(facts.scenario);
            break;
        case 't':
            path += compact(facts.utc);
            break;
        case '%':
            path += '%';
            break;
        default:
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("\"%{}\" in \"{}\" is not %h, %r, %s, %t or %%",
                                          letter == '\0' ? "" : std::string(1, letter), pattern),
                              "--out");
        }
    }
    return path;
}

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
