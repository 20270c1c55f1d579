// Which blocks of a stopped program nothing points to any more, found as a collector would that knows no types: every
// aligned word of its data, stacks and reachable blocks that has an address within a block is a pointer to it. So
// what is called lost is lost, but for pointers that are hidden (packed, in a file, in another process); what is found
// may be lost all the same, where a number looks like an address.
//
// Sources  Boehm and Weiser, "Garbage collection in an uncooperative environment" (1988).
// Cost     some 1 ns a byte that is looked at.
// Memory   5 bytes a block, and a number each that waits.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Reads memory of the program; how many bytes could be read.
using ReadMemory = std::function<std::size_t(std::uint64_t address, void* into, std::size_t bytes)>;

// The lost blocks are told apart by families: a block that no other points to, and what is reached from it. What a
// program kept to its end by one pointer of its first function, whose frame is gone then, is one family; what it loses
// time and again are many. Blocks that only point at each other in a circle have none.
struct Reachability {
    static constexpr std::uint32_t no_family = UINT32_MAX;
    std::vector<bool> is_reachable;           // by block, in the order of their addresses
    std::vector<std::uint32_t> family;        // likewise, of those that are lost
    std::vector<std::uint64_t> family_bytes;  // asked for
};

// `roots`: what is looked at first.
[[nodiscard]] Reachability reachability(std::span<const HeldBlock> blocks, std::span<const AddressRange> roots,
                                        const ReadMemory& read);

}  // namespace memsweep::measure
