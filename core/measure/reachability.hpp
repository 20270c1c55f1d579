// Finds the lost blocks of a stopped program: those to which nothing points any more. The search works like that of a
// conservative garbage collector. Every aligned word of the roots and of the reachable blocks counts as a pointer if
// its value is an address within a block. So a block that is called lost really is lost, unless its pointers are
// hidden: packed, in a register, in a file, or in another process. A block that is called reachable may still be lost,
// if some number looks like its address.
//
// Sources  Boehm and Weiser, "Garbage collection in an uncooperative environment" (1988).
// Cost     some 1 ns per byte that is searched.
// Memory   5 bytes per block, and more for each block that was reached but not searched yet.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/measure/memory_ledger.hpp"

namespace memsweep::measure {

// Reads memory of the stopped program into `into`. Returns how many bytes could be read, from `address` on.
using ReadMemory = std::function<std::size_t(std::uint64_t address, void* into, std::size_t bytes)>;

// The lost blocks are grouped into families. A family is a lost block to which no other block points, with all lost
// blocks that are reached from this block. For example, a structure that only a local variable of main() pointed to is
// one family at the end of the program. A program that loses blocks again and again has many families. Blocks that only
// point at each other in a circle have no family.
struct Reachability {
    static constexpr std::uint32_t no_family = UINT32_MAX;
    std::vector<bool> is_reachable;           // by block, in the order of their addresses
    std::vector<std::uint32_t> family;        // by block; no_family for reachable blocks
    std::vector<std::uint64_t> family_bytes;  // bytes asked for, by family
    std::uint64_t root_bytes{};
    std::uint64_t unread_root_bytes{};  // part of root_bytes that could not be read; pointers in this part were missed
};

// Tells a leak in many pieces from single large structures. Leaves out the largest families one by one, until the
// largest remaining family has at most 1/`fewest` of the remaining bytes. Returns the bytes of this largest remaining
// family; 0 if fewer than `fewest` families would remain.
[[nodiscard]] std::uint64_t largest_of_many(std::vector<std::uint64_t> family_bytes, std::size_t fewest);

// Finds the lost blocks and their families. `roots`: the memory that is searched first (pointer_roots.hpp).
[[nodiscard]] Reachability reachability(std::span<const HeldBlock> blocks, std::span<const AddressRange> roots,
                                        const ReadMemory& read);

}  // namespace memsweep::measure
