// Moves runs of elements from one type and place to another: one decision per pair of arrays, none per run.
//
// Units    elements; strides in bytes. Nothing need be aligned; input and output do not overlap.
// Cost     contiguous runs: a copy or a cast of the CastTable. Strided ones of one type: a load and a store each; with
//          a cast, in chunks through 4 KiB of stack on each side that is strided.
// Memory   streaming: the output bypasses the caches; call finish() after the last run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/array/cast_table.hpp"

namespace memsweep::array {

class ElementMover {
  public:
    // There must be a conversion: the same type twice, or none of them decimal.
    ElementMover(const CastTable& table, model::DType from, model::DType to, bool streaming) noexcept;

    [[nodiscard]] std::size_t from_bytes() const noexcept { return from_bytes_; }
    [[nodiscard]] std::size_t to_bytes() const noexcept { return to_bytes_; }
    [[nodiscard]] bool casts() const noexcept { return cast_ != nullptr; }

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

    // Rows of `out` times columns: in[row * in_row_stride + column * in_column_stride], by blocks that stay in L1 when
    // neither direction of the input follows the output's. `out` is contiguous within a row.
    void crossed(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                 std::int64_t in_row_stride, std::int64_t in_column_stride, std::size_t columns) const noexcept;

  private:
    CastLoop cast_{};
    CopyLoop copy_{};
    std::size_t from_bytes_{};
    std::size_t to_bytes_{};
};

}  // namespace memsweep::array
