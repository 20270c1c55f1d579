#include "core/sys/tree_sample.hpp"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/process_stat.hpp"

namespace memsweep::sys {
namespace {

constexpr std::uint64_t forked_without_exec = 0x40;  // PF_FORKNOEXEC of the kernel's include/linux/sched.h

struct Resident {
    std::uint64_t all_bytes{};     // files too
    std::uint64_t own_bytes{};     // anonymous and shared memory
    std::uint64_t shared_bytes{};  // shared memory: tmpfs, System V, shared mappings of nothing
    std::uint64_t huge_bytes{};    // hugetlb, which is in none of the others
};

struct Member {
    pid_t pid{};
    pid_t parent{};
    bool forked{};  // and has executed nothing since
    bool shares{};  // may share anonymous or shared memory with another
    Resident resident;
};

// Empty for one that has ended.
std::optional<Resident> resident_of(pid_t process)
{
    const auto status = read_kernel_text(fmt::format("/proc/{}/status", process));
    const auto all = status ? find_kib_field(*status, "VmRSS") : std::nullopt;
    if (!all) {
        return std::nullopt;
    }
    const std::uint64_t shared = find_kib_field(*status, "RssShmem").value_or(0);
    return Resident{.all_bytes = *all,
                    .own_bytes = find_kib_field(*status, "RssAnon").value_or(0) + shared,
                    .shared_bytes = shared,
                    .huge_bytes = find_kib_field(*status, "HugetlbPages").value_or(0)};
}

// A child of vfork runs in its parent's memory until it executes something.
bool is_in_memory_of_parent(const Member& member)
{
    return member.forked && ::syscall(SYS_kcmp, member.parent, member.pid, KCMP_VM, 0, 0) == 0;
}

void mark_sharers(std::vector<Member>& members, bool shared_memory_too)
{
    for (Member& member : members) {
        member.shares |= member.forked || (shared_memory_too && member.resident.shared_bytes != 0);
        if (!member.forked) {
            continue;
        }
        const auto parent = std::ranges::find(members, member.parent, &Member::pid);
        if (parent != members.end()) {
            parent->shares = true;
        } else {  // it has ended, and nothing tells with whom else it shared
            std::ranges::for_each(members, [](Member& one) { one.shares = true; });
        }
    }
}

// Whether smaps_rollup has all that is resident.
bool is_whole(std::string_view rollup, const Resident& resident)
{
    static const bool is_always = [] {
        utsname system{};
        return ::uname(&system) == 0 && !rollup_may_skip_mappings(system.release);
    }();
    const std::uint64_t counters_lag = resident.all_bytes / 20;
    return is_always || find_kib_field(rollup, "Rss").value_or(0) >= resident.all_bytes - counters_lag;
}

// Anonymous and shared memory, each page divided by the number of processes that have it.
std::uint64_t share_of(pid_t process)
{
    const Resident resident = resident_of(process).value_or(Resident{});
    const auto rollup = read_kernel_text(fmt::format("/proc/{}/smaps_rollup", process));
    const auto anonymous = rollup ? find_kib_field(*rollup, "Pss_Anon") : std::nullopt;
    const auto shared = rollup ? find_kib_field(*rollup, "Pss_Shmem") : std::nullopt;
    return anonymous && shared && is_whole(*rollup, resident) ? *anonymous + *shared : resident.own_bytes;
}

}  // namespace

TreeSample sample_descendants(pid_t of)
{
    TreeSample sample;
    std::vector<Member> members;
    for (const pid_t process : descendants_of(of)) {
        // First stat: one that executes a program in between is then taken for a sharer, which with_shared_once tells.
        const auto stat = read_process_stat(fmt::format("/proc/{}/", process));
        const auto resident = stat ? resident_of(process) : std::nullopt;
        if (stat) {
            sample.minor_faults += stat->minor_faults + stat->children_minor_faults;
            sample.major_faults += stat->major_faults + stat->children_major_faults;
        }
        if (resident) {
            members.push_back({.pid = process,
                               .parent = stat->parent,
                               .forked = (stat->flags & forked_without_exec) != 0,
                               .shares = false,
                               .resident = *resident});
        }
    }
    std::erase_if(members, is_in_memory_of_parent);
    sample.processes = members.size();
    if (members.size() == 1) {
        sample.working_set_bytes = members.front().resident.all_bytes + members.front().resident.huge_bytes;
        return sample;
    }
    sample.several_have_shared_memory =
        std::ranges::count_if(members, [](const Member& one) { return one.resident.shared_bytes != 0; }) > 1;
    mark_sharers(members, sample.several_have_shared_memory);
    for (const Member& member : members) {
        sample.working_set_bytes += member.resident.own_bytes + member.resident.huge_bytes;
        if (member.shares) {
            sample.sharers.push_back(member.pid);
            sample.sharers_bytes += member.resident.own_bytes;
        }
    }
    std::ranges::sort(sample.sharers);
    return sample;
}

std::uint64_t with_shared_once(const TreeSample& sample)
{
    std::uint64_t bytes = sample.working_set_bytes - sample.sharers_bytes;
    for (const pid_t process : sample.sharers) {
        bytes += share_of(process);
    }
    return bytes;
}

}  // namespace memsweep::sys
