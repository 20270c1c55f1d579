// What DAMON, the kernel's access monitor, does on this machine: where it pages memory out, a first touch or a re-touch
// costs what it does, not what the allocator does.
//
// Sources  /sys/kernel/mm/damon/admin/kdamonds/*: state, operations and the schemes' actions; "enabled" of the modules
//          damon_reclaim and damon_lru_sort. Most of these only root may read.
#pragma once

#include <string>

namespace memsweep::sys {

// "off", "paddr: pageout", "vaddr: stat, cold; reclaim", or "unknown" when there are monitors that we may not look at.
// `root` ends with a slash.
[[nodiscard]] std::string damon(const std::string& root);

}  // namespace memsweep::sys
