// Reads the memory and the page faults of this process and of other processes, and lists the descendants of a process.
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

// The memory of this process at one instant, as the kernel counts it. On kernels whose smaps_rollup may be wrong
// (rollup_may_skip_mappings()), /proc/self/smaps is read instead, one mapping after another: a mapping that another
// thread makes or removes during this time may be missed.
//
// Units    bytes; event counts since process start.
// Sources  named in each field's comment. No field is estimated.
// Cost     snapshot() walks the page tables: for each resident GiB, 3.5 ms with 4 KiB pages and 46 us with huge pages.
//          So take snapshots only between timed sections. Whatever the size of the memory, kernel_use() takes 0.3 us,
//          run_delay() 0.6 us and peak_bytes() 4 us. (Measured on an otherwise idle 2-core VM, Linux 6.18.)
// Memory   allocates nothing on success, because that would change the measured memory.
// Errors   os: a /proc file is missing or unreadable; invalid_input: the file lacks a field (`where` names the file and
//          the field).
// Threads  use a probe only in the thread that opened it, although it reads the figures of the whole process. Do not
//          use it in a forked child: its open files would show the parent process.
struct MemorySnapshot {
    std::uint64_t rss_bytes{};        // smaps_rollup: Rss, which is exact; the counters in statm and VmRSS may lag
    std::uint64_t hugetlb_bytes{};    // smaps_rollup: Private_Hugetlb + Shared_Hugetlb, which are not in Rss
    std::uint64_t anon_bytes{};       // smaps_rollup: Anonymous, the part of Rss that is neither file nor shared memory
    std::uint64_t anon_huge_bytes{};  // smaps_rollup: AnonHugePages, a part of anon_bytes
    std::uint64_t minor_faults{};     // getrusage(RUSAGE_SELF).ru_minflt
    std::uint64_t major_faults{};     // getrusage(RUSAGE_SELF).ru_majflt

    [[nodiscard]] std::uint64_t working_set_bytes() const noexcept { return rss_bytes + hugetlb_bytes; }
};

// What the kernel has counted for all threads of this process since its start: ru_minflt, ru_majflt and ru_stime of
// getrusage(RUSAGE_SELF). `time` is the processor time in the kernel. If the kernel only samples this time
// (CONFIG_TICK_CPU_ACCOUNTING), a value of 0.5 s has an error of some 3 %.
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

[[nodiscard]] std::uint64_t minor_faults() noexcept;  // of this process, from getrusage

class ProcessProbe {
  public:
    virtual ~ProcessProbe() = default;

    [[nodiscard]] virtual base::Expected<MemorySnapshot> snapshot() noexcept = 0;
    [[nodiscard]] virtual KernelUse kernel_use() const noexcept = 0;

    // Returns how long the thread that opened the probe has waited for a processor since the thread's start. The source
    // is the second field of /proc/thread-self/schedstat (Documentation/scheduler/sched-stats.rst). Absent: the kernel
    // does not count this time.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> run_delay() const noexcept = 0;

    // Makes the kernel forget the peak of the resident set: the peak becomes the present resident set.
    virtual void reset_peak() noexcept = 0;

    // Returns the largest resident set since the last reset_peak(), or since the process's start if there was none,
    // plus the hugetlb pages that are mapped now. Errors: not_supported: the last reset_peak() failed, so the kernel's
    // peak may be from before it.
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

    UniqueFd smaps_;       // smaps_rollup, or smaps on kernels whose smaps_rollup may be wrong: see read_smaps
    UniqueFd status_;      // VmHWM, HugetlbPages
    UniqueFd clear_refs_;  // writing 5 resets VmHWM; invalid if a sandbox refuses to open it
    UniqueFd schedstat_;   // of the thread that opened it; invalid if the kernel has no such file
    bool peak_stale_{};    // the last reset_peak() failed
};

// Says whether the smaps_rollup of a kernel may leave out mappings. `release` is the kernel's release as uname gives
// it: "6.1.0-28-amd64".
//
// Sources  from Linux 6.1 on, smaps_rollup skips a mapping whenever another thread, or khugepaged, waits to change the
//          address space. Measured while another thread mapped and unmapped memory: with 6.1, 19 of 20 readings missed
//          up to half of the resident memory; with 6.12.95 and 6.18, no reading missed any. Kernels between 6.1 and
//          6.12.95 were not tried.
[[nodiscard]] bool rollup_may_skip_mappings(std::string_view release) noexcept;

// Reads an open smaps_rollup or smaps file from its start, and returns the sum over its mappings. The fault counts of
// the result are 0.
//
// Sources  Documentation/filesystems/proc.rst.
// Cost     a walk through the page tables. With smaps, 3 to 5 us more for each mapping, nearly all of it spent in the
//          kernel (Linux 6.18).
// Memory   allocates nothing on success.
// Errors   os: the file cannot be read; invalid_input: a field is missing. `where` names the file and the field.
[[nodiscard]] base::Expected<MemorySnapshot> read_smaps(int fd, const char* path) noexcept;

// Reads the working set (resident memory) of another process while that process runs.
//
// Units    bytes.
// Sources  /proc/PID/status: VmRSS + HugetlbPages. VmRSS may lag by some pages per thread of the process.
// Cost     one pread, about 4 us for a process of any size (2-core VM, Linux 6.18). The watched process is not slowed.
// Memory   sampling allocates nothing.
// Errors   os: the process has ended, or it belongs to another user and /proc is mounted with the option hidepid.
// Ownership  keeps the process's status file open, so a later process with the same pid is never read instead.
class ProcessWatch {
  public:
    [[nodiscard]] static base::Expected<ProcessWatch> open(pid_t pid);

    // Absent: the process has ended, even if it was not reaped yet.
    [[nodiscard]] std::optional<std::uint64_t> working_set_bytes() noexcept;

  private:
    explicit ProcessWatch(UniqueFd status) noexcept;

    UniqueFd status_;
};

// Returns the folder that contains the program file of this process.
//
// Errors   not_supported: /proc is not mounted, or it shows another pid namespace, in which our pids name other
//          processes (pid_namespaces(7)).
[[nodiscard]] base::Expected<std::string> own_program_folder();

// Returns all descendants of a process, parents before children, including those that have ended and were not reaped.
// The list is also empty if own_program_folder() returns an error.
//
// Sources  /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it the result is empty).
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

// Makes this process adopt orphans: descendants whose parents end after this call become children of this process, so
// they remain its descendants (PR_SET_CHILD_SUBREAPER).
void adopt_orphans() noexcept;

// Returns for how many microseconds since the start of the machine at least one task has been waiting for memory. This
// is the value `total` in the line "some" of `pressure_text`, the text of /proc/pressure/memory. Absent: the text does
// not have this value.
[[nodiscard]] std::optional<std::uint64_t> memory_stall_us(std::string_view pressure_text);

}  // namespace memsweep::sys
