// Moves elements from one array to another, whatever their types and strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/array/cast_table.hpp"
#include "core/array/layout.hpp"

namespace memsweep::array {

// Moves runs of elements. A run is a row of elements that the caller moves by one call. The loop is chosen when the
// object is made, for a pair of arrays, not for each run. With `streaming`, contiguous() writes past the caches if the
// table has a loop for that; call the table's finish_streams() after the last run.
//
// Units    elements; strides in bytes. Pointers need not be aligned. Input and output must not overlap.
// Cost     a contiguous run: one call of the CastTable's loop for a copy or a cast. A strided run without a cast: a
//          load and a store per element. A strided run with a cast: chunks, through 4 KiB of stack for the input if it
//          is strided, and 4 KiB for the output if it is.
class ElementMover {
  public:
    // Requires that a conversion exists: `from` equals `to`, or neither is decimal128.
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

    // Moves the element at in[row * in_row_stride + column * in_column_stride] to the same row and column of `out`.
    // Works in blocks that fit the L1 cache, for an input whose smallest stride is not along the output's rows, such as
    // a transpose. `out` is contiguous within a row.
    void crossed(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                 std::int64_t in_row_stride, std::int64_t in_column_stride, std::size_t columns) const noexcept;

  private:
    CastLoop cast_{};
    CopyLoop copy_{};
    std::size_t from_bytes_{};
    std::size_t to_bytes_{};
};

// Copies all elements of `in_layout` to the same indices of `out_layout`, which has the same shape, whatever the
// strides are. `out` and `in` are the starts of the buffers that the layouts refer to.
//
// Cost     first sorts the axes into the output's memory order and merges adjacent ones. Then moves contiguous runs if
//          both input and output have them, blocks if the input's order is transposed (crossed()), and single elements
//          otherwise. Allocates nothing.
// Errors   none; layouts of different shapes are a bug.
void assign(const ElementMover& mover, std::byte* out, const Layout& out_layout, const std::byte* in,
            const Layout& in_layout) noexcept;

// Writes runs of elements one after the other. With `streaming` it first collects short runs in a buffer, because a
// cache line that is streamed in two parts is written to memory twice.
//
// Cost     as ElementMover; runs that are collected are copied one more time, within L1.
// Memory   a buffer of 1 KiB inside the object.
class SlabWriter {
  public:
    SlabWriter(const CastTable& table, std::byte* out, model::DType dtype, bool streaming) noexcept
        : table_{table}, out_{out}, dtype_{dtype}, streaming_{streaming}
    {
    }

    void append(model::DType from, const std::byte* in, std::size_t elements) noexcept;

    // Writes the elements that are still in the buffer.
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
