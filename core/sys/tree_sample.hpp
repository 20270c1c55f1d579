// The memory and page faults of all descendants of a process, read from outside at one instant.
//
// Units    bytes; page faults since the start of each process.
// Sources  the list of processes comes from descendants_of().
//          /proc/PID/stat: ppid, flags, minflt and majflt; cminflt and cmajflt, the faults of reaped children.
//          /proc/PID/status: VmRSS if there is one process; RssAnon and RssShmem if there are several; HugetlbPages.
//          /proc/PID/smaps_rollup (Linux 5.4): Pss_Anon and Pss_Shmem of the sharers (see Sharers).
//          kcmp(2): finds children of vfork(2) that still use the memory of their parents.
// Sharers  processes that may have pages in common: processes that were forked and have not called execve since
//          (PF_FORKNOEXEC), their parents, and processes with shared memory if there are several of these. If a parent
//          has ended, all processes count as sharers.
// Meaning  the sum over several processes is the memory for which cgroup v2 would charge them (memory.peak), without
//          kernel memory and without files. Files are left out, because a control group is charged for a file page only
//          if it was the first to read the page. If there is only one process, its mapped files are counted.
// Cost     sample_descendants() takes some 35 us per process. with_shared_once() walks page tables, which takes some 2
//          ms for each 100 MiB of the sharers' 4 KiB pages (2-core VM, Linux 6.18). The sampled processes are not
//          stopped.
// Errors   none: if a process ends during a sample, the figures that were read before its end are counted. If memsweep
//          may not read the smaps_rollup of a process, for example of another user's process, all memory of this
//          process counts as not shared.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace memsweep::sys {

struct TreeSample {
    std::uint64_t processes{};          // without children of vfork(2) that still use their parent's memory
    std::uint64_t working_set_bytes{};  // resident memory; a page that two sharers have is counted twice
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::vector<pid_t> sharers;     // sorted
    std::uint64_t sharers_bytes{};  // the sharers' part of working_set_bytes
    // More than one process has shared memory. Each of them may map further pages of it at any time. A fork, in
    // contrast, shares pages only with a new process.
    bool several_have_shared_memory{};
};

[[nodiscard]] TreeSample sample_descendants(pid_t process);

// Returns the working set of the sample, with each shared page counted only one time. Reads the figures of the sharers
// again, so call it soon after sample_descendants().
[[nodiscard]] std::uint64_t with_shared_once(const TreeSample& sample);

}  // namespace memsweep::sys
