// Writes runs of elements one after the other. Streamed, short runs are collected first: a cache line that is stored in
// two parts past the caches goes to memory twice.
//
// Cost     one more pass through L1 for the runs that are collected; otherwise what ElementMover's run costs.
// Memory   1 KiB of its own.
#pragma once

#include <cstddef>

#include "core/array/element_mover.hpp"

namespace memsweep::array {

class SlabWriter {
  public:
    SlabWriter(const CastTable& table, std::byte* out, model::DType dtype, bool streaming) noexcept
        : table_{table}, out_{out}, dtype_{dtype}, streaming_{streaming}
    {
    }

    void append(model::DType from, const std::byte* in, std::size_t elements) noexcept;

    // Writes what is still collected.
    void finish() noexcept;

  private:
    void collect(const ElementMover& mover, const std::byte* in, std::size_t elements) noexcept;
    void write_whole_lines() noexcept;

    static constexpr std::size_t capacity_bytes = 1024;

    const CastTable& table_;
    std::byte* out_;  // where the first collected byte goes
    std::size_t collected_bytes_{};
    model::DType dtype_;
    bool streaming_;
    alignas(64) std::byte collected_[capacity_bytes];
};

}  // namespace memsweep::array
