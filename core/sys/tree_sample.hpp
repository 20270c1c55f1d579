// The memory and page faults of all descendants of a process, seen from outside at one instant.
//
// Units    bytes; page faults since the start of each process.
// Sources  descendants_of finds the processes.
//          /proc/PID/stat: ppid, flags, minflt, majflt and, for children that were waited for, cminflt and cmajflt.
//          /proc/PID/status: VmRSS of a single process; RssAnon and RssShmem of several; HugetlbPages of each.
//          /proc/PID/smaps_rollup (Linux 5.4): Pss_Anon and Pss_Shmem of processes that may share such pages. These are
//          processes that were forked and have executed nothing since (PF_FORKNOEXEC), their parents, and those with
//          shared memory.
//          kcmp(2) recognises a child of vfork(2), which has no memory of its own yet.
// Meaning  the sum over several processes is what a control group is charged for them (memory.peak of v2), without the
//          kernel's own memory and without files: a group is charged for the files that it reads first. So mapped files
//          are in the figure of a single process, and not in a sum.
// Cost     a sample takes some 35 us a process. with_shared_once takes some 2 ms for each 100 MiB of the sharers' 4 KiB
//          pages, for a walk through their page tables (2-core VM, Linux 6.18). The processes themselves do nothing.
// Errors   none: a process that ends meanwhile counts as far as it was read. If its smaps_rollup may not be read
//          (another user's), it counts with all its memory, shared or not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace memsweep::sys {

struct TreeSample {
    std::uint64_t processes{};          // processes with memory of their own: not those that wait for their parent
    std::uint64_t working_set_bytes{};  // pages that sharers share count once for each
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::vector<pid_t> sharers;         // sorted; processes that may have pages in common
    std::uint64_t sharers_bytes{};      // their part of working_set_bytes
    bool several_have_shared_memory{};  // its pages may gain sharers at any time; pages shared by fork only lose some
};

[[nodiscard]] TreeSample sample_descendants(pid_t process);

// The working set at about the time of the sample, each page once.
[[nodiscard]] std::uint64_t with_shared_once(const TreeSample& sample);

}  // namespace memsweep::sys
