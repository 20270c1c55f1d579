// Puts the picture of an address space together while its pages are looked at by growing addresses.
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
    // Cells are as small as a page if `most_cells` are enough, and each area has one at least. 0: no picture is made.
    PictureMaker(const sys::AddressSpace& space, std::span<const AreaRole> roles, std::size_t most_cells);
    // Resident bytes from `begin` on, inside one run of pages and not before those that were added.
    void add(std::uint64_t begin, MemoryCategory category, std::uint64_t bytes);
    [[nodiscard]] MemoryPicture take();

  private:
    [[nodiscard]] PictureArea& area_at(std::uint64_t address);

    MemoryPicture picture_;
    std::size_t next_{};  // the first area that lies behind what was added
};

}  // namespace memsweep::measure
