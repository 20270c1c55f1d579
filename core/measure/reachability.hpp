// Finds the blocks of a stopped program that nothing points to any more. It works like a collector that knows no types.
// Every aligned word of the data, the stacks and the reachable blocks counts as a pointer if it holds an address within
// a block. So a block that is called lost is lost, unless its pointers are hidden: packed, in a register, in a file, or
// in another process. But a block that is found may be lost too, if a number looks like its address.
//
// Sources  Boehm and Weiser, "Garbage collection in an uncooperative environment" (1988).
// Cost     some 1 ns a byte that is looked at.
// Memory   5 bytes a block, and a number for each block that is still to be searched.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Reads memory of the program. Returns how many bytes could be read.
using ReadMemory = std::function<std::size_t(std::uint64_t address, void* into, std::size_t bytes)>;

// The lost blocks fall into families. A family is a block that no other points to, with all blocks reached from it. A
// program may keep blocks to its end by one pointer in its first function, whose frame is gone then: these are one
// family. If it loses blocks time and again, these are many. Blocks that only point at each other in a circle have no
// family.
struct Reachability {
    static constexpr std::uint32_t no_family = UINT32_MAX;
    std::vector<bool> is_reachable;           // by block, in the order of their addresses
    std::vector<std::uint32_t> family;        // likewise, for the lost blocks
    std::vector<std::uint64_t> family_bytes;  // asked for
    std::uint64_t root_bytes{};
    std::uint64_t unread_root_bytes{};  // of them what could not be read: pointers in there were not seen
};

// `roots`: the memory that is searched first.
// Of many families, the size of the largest that counts where the larger ones are left aside, so that at least `fewest`
// remain and none has more than its part of them; 0: there are not so many.
[[nodiscard]] std::uint64_t largest_of_many(std::vector<std::uint64_t> family_bytes, std::size_t fewest);

[[nodiscard]] Reachability reachability(std::span<const HeldBlock> blocks, std::span<const AddressRange> roots,
                                        const ReadMemory& read);

}  // namespace memsweep::measure
