// Finds the roots of a stopped program: all memory that the program has written, except for the heap. Blocks that the
// roots point to are reachable.
//
// A page belongs to the heap if a block lies or lay on it, or if the allocator mapped it together with such pages.
// Memory of freed blocks is no root, because it still contains old pointers. Every other written page is a root. Pages
// are judged one by one, because a mapping may contain both heap and roots. The kernel joins adjacent mappings, such as
// a program's own pool and a large block that malloc mapped.
//
// Units    addresses of the stopped program.
// Cost     some 20 ns per resident page of anonymous memory.
// Memory   16 bytes per root.
#pragma once

#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Returns whole pages, and the stacks of living threads. A stack may lie within a block.
[[nodiscard]] std::vector<AddressRange> pointer_roots(const LedgerInput& input);

}  // namespace memsweep::measure
