// The memory and the page faults of this process and of another one; and the descendants of a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// The kernel's figures of this process's memory, read at one instant. If it has to read /proc/self/smaps, it reads
// mapping after mapping: mappings that other threads make or remove meanwhile are counted or not.
//
// Units    bytes and event counts since process start; every field name carries its unit.
// Sources  one per field, named beside it; no field is ever estimated.
// Cost     snapshot walks the page tables: 3.5 ms per resident GiB of 4 KiB pages, 46 us with huge pages, so snapshots
//          are taken between timed sections, never inside one. faults: 0.3 us; run_delay: 0.6 us; peak_bytes: 4 us,
//          whatever the size. (Measured on a quiet 2-core VM, Linux 6.18.)
// Memory   allocates nothing on success: a probe must not disturb what it measures.
// Errors   os: a /proc file is missing or unreadable; invalid_input: its text lacks a field (`where` names both).
// Threads  a probe belongs to the thread that samples; it reads the whole process. It does not survive a fork: the
//          files it holds are those of the process that opened them.
struct MemorySnapshot {
    std::uint64_t rss_bytes{};        // smaps_rollup: Rss (the counters behind statm and VmRSS may lag)
    std::uint64_t hugetlb_bytes{};    // smaps_rollup: Private_Hugetlb + Shared_Hugetlb, which Rss leaves out
    std::uint64_t anon_bytes{};       // smaps_rollup: Anonymous, a part of Rss: neither of files nor shared memory
    std::uint64_t anon_huge_bytes{};  // smaps_rollup: AnonHugePages, a part of that
    std::uint64_t minor_faults{};     // getrusage(RUSAGE_SELF).ru_minflt
    std::uint64_t major_faults{};     // getrusage(RUSAGE_SELF).ru_majflt

    [[nodiscard]] std::uint64_t working_set_bytes() const noexcept { return rss_bytes + hugetlb_bytes; }
};

// The kernel's work for all threads of this process: getrusage(RUSAGE_SELF)'s ru_minflt, ru_majflt, ru_stime. If the
// kernel samples its time at ticks (CONFIG_TICK_CPU_ACCOUNTING), 0.5 s of it are known to some 3 %.
struct KernelUse {
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::chrono::nanoseconds time{};

    KernelUse& operator+=(const KernelUse& other) noexcept
    {
        minor_faults += other.minor_faults;
        major_faults += other.major_faults;
        time += other.time;
        return *this;
    }
    friend KernelUse operator-(const KernelUse& a, const KernelUse& b) noexcept
    {
        return {a.minor_faults - b.minor_faults, a.major_faults - b.major_faults, a.time - b.time};
    }
};

[[nodiscard]] std::uint64_t minor_faults() noexcept;  // by this process, from getrusage

class ProcessProbe {
  public:
    virtual ~ProcessProbe() = default;

    [[nodiscard]] virtual base::Expected<MemorySnapshot> snapshot() noexcept = 0;
    [[nodiscard]] virtual KernelUse kernel_use() const noexcept = 0;

    // How long the thread that opened the probe has been ready to run without a processor since it began: the second
    // field of /proc/thread-self/schedstat (Documentation/scheduler/sched-stats.rst). Empty: the kernel does not keep
    // it.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> run_delay() const noexcept = 0;

    // Resets the high-water mark of the resident set to the present size.
    virtual void reset_peak() noexcept = 0;

    // The highest resident set since the last reset_peak (or process start), plus the hugetlb pages mapped now.
    // Errors: not_supported if the last reset_peak was refused, since the mark would be an older one.
    [[nodiscard]] virtual base::Expected<std::uint64_t> peak_bytes() noexcept = 0;

  protected:
    ProcessProbe() = default;
    ProcessProbe(const ProcessProbe&) = default;
    ProcessProbe& operator=(const ProcessProbe&) = default;
};

class OwnProcessProbe final : public ProcessProbe {
  public:
    [[nodiscard]] static base::Expected<OwnProcessProbe> open();

    [[nodiscard]] base::Expected<MemorySnapshot> snapshot() noexcept override;
    [[nodiscard]] KernelUse kernel_use() const noexcept override;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> run_delay() const noexcept override;
    void reset_peak() noexcept override;
    [[nodiscard]] base::Expected<std::uint64_t> peak_bytes() noexcept override;

  private:
    OwnProcessProbe(UniqueFd smaps, UniqueFd status, UniqueFd clear_refs, UniqueFd schedstat) noexcept;

    UniqueFd smaps_;       // smaps_rollup, or smaps where that is wrong at times: read_smaps
    UniqueFd status_;      // VmHWM, HugetlbPages
    UniqueFd clear_refs_;  // writing 5 resets VmHWM; not open where the sandbox refuses it
    UniqueFd schedstat_;   // for the thread that opened it; not open where the kernel lacks it
    bool peak_stale_{};
};

// The resident part of this process's memory: /proc/self/smaps_rollup, or the sums of /proc/self/smaps if the kernel
// does not add them up correctly itself.
//
// Sources  Documentation/filesystems/proc.rst. From Linux 6.1 on smaps_rollup leaves out the next mapping whenever
//          another thread, or khugepaged, waits to change the address space: beside a thread that maps and unmaps, 19
//          of 20 readings in 6.1 miss up to half of the resident memory, none in 6.12.95 and 6.18. The kernels between
//          were not tried.
// Cost     the walk through the page tables; of smaps also 3 to 5 us a mapping, nearly all of it the kernel's (6.18).
// Memory   allocates nothing on success.
// Errors   os: the file cannot be read; invalid_input: a field is missing; `where` names file and field.

// Whether the smaps_rollup of a kernel may leave out mappings. `release` is as uname gives it: "6.1.0-28-amd64".
[[nodiscard]] bool rollup_may_skip_mappings(std::string_view release) noexcept;

// Reads an open file from its start, and sums its mappings. The fault counts are not in it, and stay 0.
[[nodiscard]] base::Expected<MemorySnapshot> read_smaps(int fd, const char* path) noexcept;

// The working set of another process, read from outside while it runs.
//
// Units    bytes.
// Sources  /proc/PID/status: VmRSS + HugetlbPages. VmRSS may lag behind by some pages per thread of the process.
// Cost     one pread, about 4 us whatever the process's size (2-core VM, Linux 6.18); the watched process
//          does nothing.
// Memory   sampling allocates nothing.
// Errors   os: the process is gone already, or belongs to somebody else under hidepid.
// Ownership  holds the process's own status file, so a later process with the same number is never mistaken for it.
class ProcessWatch {
  public:
    [[nodiscard]] static base::Expected<ProcessWatch> open(pid_t pid);

    // Empty once the process has ended, reaped or not.
    [[nodiscard]] std::optional<std::uint64_t> working_set_bytes() noexcept;

  private:
    explicit ProcessWatch(UniqueFd status) noexcept;

    UniqueFd status_;
};

// The folder of the program file that this process runs.
//
// Errors   not_supported: /proc is not mounted, or shows another pid namespace (pid_namespaces(7)), whose numbers
//          belong to other processes.
[[nodiscard]] base::Expected<std::string> own_program_folder();

// All descendants of a process, parents before children, ended ones included. Empty if own_program_folder() refuses.
//
// Sources  /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it nothing is seen).
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

// From here on descendants whose parents end become children of ours, and so stay descendants (PR_SET_CHILD_SUBREAPER).
void adopt_orphans() noexcept;

// How long some task has waited for memory since the machine started, in microseconds: `total` of "some" in
// /proc/pressure/memory. Empty: the kernel keeps no such figures.
[[nodiscard]] std::optional<std::uint64_t> memory_stall_us(std::string_view pressure_text);

}  // namespace memsweep::sys
