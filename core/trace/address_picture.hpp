// An arena over the time of a trace: which share of each stretch of addresses is taken, while so many operations pass.
//
// Units    bytes, operations; shares from 0 to 1.
// Cost     a placement of all operations, and a few ns for each cell that a block's rectangle meets.
// Memory   a value a cell, 24 bytes a block number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/fit.hpp"

namespace memsweep::trace {

struct AddressPicture {
    std::size_t columns{};            // of equal numbers of operations
    std::size_t rows{};               // of equal numbers of addresses, the lowest first
    std::uint64_t operations{};       // of all columns
    std::uint64_t bytes{};            // of all rows
    std::vector<float> taken;         // column by column
    std::vector<std::uint64_t> live;  // most live bytes within each column
    std::vector<std::uint64_t> high;  // highest end of a block so far

    [[nodiscard]] float at(std::size_t column, std::size_t row) const { return taken[column * rows + row]; }
};

// Empty for policies whose blocks have no place in one arena, and for traces without operations.
[[nodiscard]] std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                              const FitOptions& options, std::size_t columns,
                                                              std::size_t rows);

}  // namespace memsweep::trace
