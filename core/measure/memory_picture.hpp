// Makes the MemoryPicture of an address space. The caller goes through the pages in the order of their addresses.
//
// Units    bytes; addresses of the program.
// Cost     the constructor goes through all runs of pages several times, to find the size of a cell. A call of add()
//          costs little.
// Memory   150 bytes per cell.
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/measure/memory_ledger.hpp"
#include "core/sys/mappings.hpp"

namespace memsweep::measure {

class PictureMaker {
  public:
    // Uses the smallest cell size, at least a page, for which about `most_cells` cells are enough. Each area with
    // resident pages gets at least one cell, so there may be more cells. If `most_cells` is 0, no picture is made.
    PictureMaker(const sys::AddressSpace& space, std::span<const AreaRole> roles, std::size_t most_cells);
    // Adds resident bytes at `begin`. They must lie inside one run of pages (sys::PageRun), and not before bytes that
    // were added earlier.
    void add(std::uint64_t begin, MemoryCategory category, std::uint64_t bytes);
    [[nodiscard]] MemoryPicture take();

  private:
    [[nodiscard]] PictureArea& area_at(std::uint64_t address);

    MemoryPicture picture_;
    std::size_t next_{};  // the first area after all bytes added
};

}  // namespace memsweep::measure
