// Moves elements from one array to another, whatever their types and strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/array/cast_table.hpp"
#include "core/array/layout.hpp"

namespace memsweep::array {

// Moves runs of elements. What it does is decided once per pair of arrays and never per run. With `streaming` the
// output bypasses the caches; the table's finish_streams follows the last run.
//
// Units    elements; strides in bytes. Nothing need be aligned; input and output do not overlap.
// Cost     a contiguous run: a copy or a cast of the CastTable. A strided one of one type: a load and a store per
//          element; with a cast, chunks through 4 KiB of stack on each side that is strided.
class ElementMover {
  public:
    // There must be a conversion: the same type twice, or none of them decimal.
    ElementMover(const CastTable& table, model::DType from, model::DType to, bool streaming) noexcept;

    [[nodiscard]] std::size_t from_bytes() const noexcept { return from_bytes_; }
    [[nodiscard]] std::size_t to_bytes() const noexcept { return to_bytes_; }

    void contiguous(std::byte* out, const std::byte* in, std::size_t elements) const noexcept
    {
        if (cast_ != nullptr) {
            cast_(out, in, elements);
        } else {
            copy_(out, in, elements * to_bytes_);
        }
    }
    void strided(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                 std::size_t elements) const noexcept;

    // Moves in[row * in_row_stride + column * in_column_stride] to each row and column of `out`. It goes by blocks that
    // stay in L1, for inputs neither of whose directions follows the output's. `out` is contiguous within a row.
    void crossed(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                 std::int64_t in_row_stride, std::int64_t in_column_stride, std::size_t columns) const noexcept;

  private:
    CastLoop cast_{};
    CopyLoop copy_{};
    std::size_t from_bytes_{};
    std::size_t to_bytes_{};
};

// Writes the elements of one layout into another of the same shape, whatever their strides. `out` and `in` are the
// starts of the buffers that the layouts refer to.
//
// Cost     axes are merged and put into the output's order first. Then it moves contiguous runs if both sides have
//          them, blocks if the two lie across each other, and single elements otherwise. Allocates nothing.
// Errors   layouts of different shapes are a bug.
void assign(const ElementMover& mover, std::byte* out, const Layout& out_layout, const std::byte* in,
            const Layout& in_layout) noexcept;

// Writes runs of elements one after the other. When it streams, it collects short runs first: a cache line that is
// streamed in two parts goes to memory twice.
//
// Cost     one more pass through L1 for the runs that are collected; otherwise what ElementMover's run costs.
// Memory   1 KiB of its own.
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
