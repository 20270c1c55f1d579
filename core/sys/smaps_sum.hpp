// What of this process's memory is resident: /proc/self/smaps_rollup, or the sums of /proc/self/smaps where the kernel
// cannot add them up itself.
//
// Sources  Documentation/filesystems/proc.rst. From Linux 6.1 on smaps_rollup leaves out the next mapping whenever
//          another thread, or khugepaged, waits to change the address space: beside a thread that maps and unmaps, 19
//          of 20 readings in 6.1 miss up to half of what is resident; none in 6.18. Those between are not known.
// Cost     the walk through the page tables; of smaps also 1 to 2 us a mapping.
// Memory   allocates nothing on success.
// Errors   os: the file cannot be read; invalid_input: a field is missing; `where` names file and field.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {

// Of a kernel that is called this by uname: "6.1.0-28-amd64".
[[nodiscard]] bool rollup_may_skip_mappings(std::string_view release) noexcept;

class SmapsSum {
  public:
    // Any number of whole lines.
    void add(std::string_view lines) noexcept;

    // The fault counts, which are not in it, are left 0.
    [[nodiscard]] base::Expected<MemorySnapshot> total(const char* path) const noexcept;

  private:
    static constexpr std::array<std::string_view, 4> fields{"Rss", "AnonHugePages", "Private_Hugetlb",
                                                            "Shared_Hugetlb"};

    std::array<std::uint64_t, fields.size()> bytes_{};
    std::array<bool, fields.size()> seen_{};
};

// All of an open file, from its start.
[[nodiscard]] base::Expected<MemorySnapshot> read_smaps(int fd, const char* path) noexcept;

}  // namespace memsweep::sys
