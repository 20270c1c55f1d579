// What of this process's memory is resident: /proc/self/smaps_rollup, or the sums of /proc/self/smaps where the kernel
// cannot add them up itself.
//
// Sources  Documentation/filesystems/proc.rst. From Linux 6.1 on smaps_rollup leaves out the next mapping whenever
//          another thread, or khugepaged, waits to change the address space: beside a thread that maps and unmaps, 19
//          of 20 readings in 6.1 miss up to half of what is resident, none in 6.12.95 and 6.18. What lies between is
//          not known.
// Cost     the walk through the page tables; of smaps also 3 to 5 us a mapping, nearly all of it the kernel's (6.18).
// Memory   allocates nothing on success.
// Errors   os: the file cannot be read; invalid_input: a field is missing; `where` names file and field.
#pragma once

#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {

// Of a kernel that is called this by uname: "6.1.0-28-amd64".
[[nodiscard]] bool rollup_may_skip_mappings(std::string_view release) noexcept;

// All of an open file, from its start, its mappings summed. The fault counts, which are not in it, are left 0.
[[nodiscard]] base::Expected<MemorySnapshot> read_smaps(int fd, const char* path) noexcept;

}  // namespace memsweep::sys
