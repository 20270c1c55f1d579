// The memory and page faults of all descendants of a process, read from outside at one instant.
//
// Units    bytes; page faults since the start of each process.
// Sources  the processes come from descendants_of().
//          /proc/PID/stat: ppid, flags, minflt and majflt; cminflt and cmajflt for children that were waited for.
//          /proc/PID/status: VmRSS if there is one process; RssAnon and RssShmem if there are several; HugetlbPages.
//          /proc/PID/smaps_rollup (Linux 5.4): Pss_Anon and Pss_Shmem of the sharers.
//          kcmp(2): finds children of vfork(2), which still use the memory of their parents.
// Sharers  are processes that may have pages in common: processes that were forked and have not called execve since
//          (PF_FORKNOEXEC), their parents, and processes with shared memory.
// Meaning  the sum over several processes is what cgroup v2 would charge for them (memory.peak), without kernel memory
//          and without files. A control group is charged for a file page only if it was the first to read the page. So
//          the sum leaves out mapped files. If there is only one process, its mapped files are counted.
// Cost     a sample takes some 35 us per process. with_shared_once() walks page tables: some 2 ms for each 100 MiB of
//          the sharers' 4 KiB pages (2-core VM, Linux 6.18). The sampled processes are not stopped.
// Errors   none: if a process ends meanwhile, the figures that were read before its end are counted. If the
//          smaps_rollup of a process may not be read, as for another user's process, all its memory counts as not
//          shared.
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
    // More than one process has shared memory. More processes may map a page of shared memory at any time. A page
    // shared by fork can only lose processes.
    bool several_have_shared_memory{};
};

[[nodiscard]] TreeSample sample_descendants(pid_t process);

// The working set of the sample with each shared page counted once. It reads the sharers' memory again, so call it soon
// after the sample.
[[nodiscard]] std::uint64_t with_shared_once(const TreeSample& sample);

}  // namespace memsweep::sys
