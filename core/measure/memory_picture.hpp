// Draws the picture of an address space while the caller goes through its pages by growing addresses.
//
// Units    bytes; addresses of that program.
// Cost     some passes over the runs of pages, to find the size of a cell; then little for each call.
// Memory   150 bytes a cell.
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
    // Cells are as small as a page if `most_cells` of them suffice. Each area has at least one. 0: no picture is made.
    PictureMaker(const sys::AddressSpace& space, std::span<const AreaRole> roles, std::size_t most_cells);
    // Adds resident bytes that begin at `begin`. They lie inside one run of pages, and not before bytes added earlier.
    void add(std::uint64_t begin, MemoryCategory category, std::uint64_t bytes);
    [[nodiscard]] MemoryPicture take();

  private:
    [[nodiscard]] PictureArea& area_at(std::uint64_t address);

    MemoryPicture picture_;
    std::size_t next_{};  // the first area that lies behind what was added
};

}  // namespace memsweep::measure
