// The memory and page faults of all that a process has started, seen from outside at one instant.
//
// Units    bytes; page faults since the start of each process.
// Sources  descendants_of says who they are. /proc/PID/stat: ppid, flags, minflt, majflt and, of children that were
//          waited for, cminflt and cmajflt. /proc/PID/status: VmRSS of a process that is alone; of several RssAnon and
//          RssShmem. HugetlbPages of each. Where processes share such pages, Pss_Anon and Pss_Shmem of
//          /proc/PID/smaps_rollup (Linux 5.4): of those that were forked and have executed nothing since
//          (PF_FORKNOEXEC), of their parents, and of those with shared memory. kcmp(2) tells a child of vfork(2), which
//          has no memory of its own yet.
// Meaning  of several processes what a control group is charged for them (memory.peak of v2) but for the kernel's own
//          memory and for files, which are charged to whoever read them first. So the files that programs map are not
//          in a sum, and of one process alone they are.
// Cost     of a sample some 35 us a process; of with_shared_once some 2 ms for each 100 MiB of 4 KiB pages that sharers
//          have, a walk through their page tables (2-core VM, Linux 6.18). The processes themselves do nothing.
// Errors   none: a process that ends meanwhile counts as far as it was read. One whose smaps_rollup may not be read
//          (another user's) counts with all that it has, shared or not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace memsweep::sys {

struct TreeSample {
    std::uint64_t processes{};          // that have memory of their own: not those that wait for their parent
    std::uint64_t working_set_bytes{};  // pages that sharers share count once for each
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::vector<pid_t> sharers;         // sorted; that may have pages in common
    std::uint64_t sharers_bytes{};      // their part of working_set_bytes
    bool several_have_shared_memory{};  // which may become more shared at any time; pages shared by fork only less
};

[[nodiscard]] TreeSample sample_descendants(pid_t process);

// The working set at about the time of the sample, each page once.
[[nodiscard]] std::uint64_t with_shared_once(const TreeSample& sample);

}  // namespace memsweep::sys
