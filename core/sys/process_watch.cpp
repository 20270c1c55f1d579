#include "core/sys/process_watch.hpp"

#include <fcntl.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {

ProcessWatch::ProcessWatch(UniqueFd status) noexcept : status_{std::move(status)} {}

base::Expected<ProcessWatch> ProcessWatch::open(pid_t pid)
{
    const std::string path = fmt::format("/proc/{}/status", pid);
    UniqueFd status{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!status.valid()) {
        return base::fail(base::os_error("open", errno, path));
    }
    return ProcessWatch{std::move(status)};
}

std::optional<std::uint64_t> ProcessWatch::working_set_bytes() noexcept
{
    std::array<char, 8192> buffer;
    const auto text = pread_text(status_.get(), buffer);
    const auto rss = text ? find_kib_field(*text, "VmRSS") : std::nullopt;
    if (!rss) {
        return std::nullopt;  // reaped: ESRCH; a zombie: no memory, so no VmRSS
    }
    return *rss + find_kib_field(*text, "HugetlbPages").value_or(0);
}

namespace {

constexpr std::size_t most_processes = 4096;
constexpr int minor_field = 10;  // of /proc/PID/stat, counted from 1; the name in it is the 2nd

std::vector<pid_t> children_of(pid_t process)
{
    std::vector<pid_t> children;
    std::error_code problem;
    for (const auto& task : std::filesystem::directory_iterator{fmt::format("/proc/{}/task", process), problem}) {
        const auto text = read_kernel_text(task.path().string() + "/children");
        std::string_view rest = text ? std::string_view{*text} : std::string_view{};
        for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
            if (const auto child = parse_count(word)) {
                children.push_back(static_cast<pid_t>(*child));
            }
        }
    }
    return children;
}

void add_faults(pid_t process, TreeSample& sample)
{
    const auto text = read_kernel_text(fmt::format("/proc/{}/stat", process));
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos) {
        return;
    }
    std::string_view rest = std::string_view{*text}.substr(name_end + 1);
    for (int field = 3; field < minor_field; ++field) {
        static_cast<void>(take_word(rest));
    }
    const std::uint64_t minor = parse_count(take_word(rest)).value_or(0);
    const std::uint64_t childrens_minor = parse_count(take_word(rest)).value_or(0);
    const std::uint64_t major = parse_count(take_word(rest)).value_or(0);
    const std::uint64_t childrens_major = parse_count(take_word(rest)).value_or(0);
    sample.minor_faults += minor + childrens_minor;
    sample.major_faults += major + childrens_major;
}

}  // namespace

TreeSample sample_descendants(pid_t of)
{
    TreeSample sample;
    std::vector<pid_t> processes = children_of(of);
    for (std::size_t i = 0; i < processes.size() && processes.size() < most_processes; ++i) {
        const pid_t process = processes[i];
        if (const auto status = read_kernel_text(fmt::format("/proc/{}/status", process))) {
            ++sample.processes;
            sample.working_set_bytes +=
                find_kib_field(*status, "VmRSS").value_or(0) + find_kib_field(*status, "HugetlbPages").value_or(0);
        }
        add_faults(process, sample);
        const std::vector<pid_t> children = children_of(process);
        processes.insert(processes.end(), children.begin(), children.end());
    }
    return sample;
}

void adopt_orphans() noexcept
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::optional<std::uint64_t> memory_stall_us(std::string_view pressure_text)
{
    constexpr std::string_view key = "total=";
    const std::string_view line = take_line(pressure_text);
    const std::size_t at = line.find(key);
    return line.starts_with("some") && at != std::string_view::npos ? parse_count(line.substr(at + key.size()))
                                                                    : std::nullopt;
}

}  // namespace memsweep::sys
