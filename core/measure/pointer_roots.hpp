// The memory of a stopped program whose pointers count: all that the program has written, but the heap.
//
// A page is the heap's if a block lies on it or has lain on it, or if the allocator mapped it together with such pages.
// Freed blocks are no roots, because they still hold pointers to what was. Whatever else a page may be, it is a root.
// Mappings do not decide, because the kernel joins those that lie side by side: a program's own pool and a large block
// that malloc has mapped are one.
//
// Units    addresses of that program.
// Cost     some 20 ns a resident page of anonymous memory.
// Memory   16 bytes a root.
#pragma once

#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Whole pages, and the stacks of living threads, which may lie within a block.
[[nodiscard]] std::vector<AddressRange> pointer_roots(const LedgerInput& input);

}  // namespace memsweep::measure
