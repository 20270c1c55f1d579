#include "core/array/element_mover.hpp"

#include <algorithm>
#include <cstring>

namespace memsweep::array {
namespace {

constexpr std::size_t chunk_elements = 256;
constexpr std::size_t largest_element_bytes = 16;
constexpr std::size_t block_elements =
    32;  // a block of 32 x 32: with 8-byte elements half of a 32 KiB L1 for both sides

struct SixteenBytes {
    std::uint64_t low, high;
};

void copy_bytes(std::byte* out, const std::byte* in, std::size_t bytes) noexcept
{
    std::memcpy(out, in, bytes);
}

template <typename T>
void copy_strided(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                  std::size_t elements)
{
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (out_stride == size) {  // one address less to compute
        for (std::size_t i = 0; i < elements; ++i) {
            std::memcpy(out + i * sizeof(T), in + static_cast<std::int64_t>(i) * in_stride, sizeof(T));
        }
        return;
    }
    for (std::size_t i = 0; i < elements; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        std::memcpy(out + at * out_stride, in + at * in_stride, sizeof(T));
    }
}

template <typename T>
void copy_block(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                std::int64_t in_row_stride, std::int64_t in_column_stride, std::size_t columns)
{
    for (std::size_t row = 0; row < rows; ++row) {
        copy_strided<T>(out, sizeof(T), in, in_column_stride, columns);
        out += out_row_stride;
        in += in_row_stride;
    }
}

// Calls visit.operator()<T>() with a T of this many bytes.
template <typename Visit>
void with_size(std::size_t element_bytes, Visit visit)
{
    switch (element_bytes) {
    case 1:
        return visit.template operator()<std::uint8_t>();
    case 2:
        return visit.template operator()<std::uint16_t>();
    case 4:
        return visit.template operator()<std::uint32_t>();
    case 8:
        return visit.template operator()<std::uint64_t>();
    default:
        return visit.template operator()<SixteenBytes>();
    }
}

void copy_strided_of(std::size_t element_bytes, std::byte* out, std::int64_t out_stride, const std::byte* in,
                     std::int64_t in_stride, std::size_t elements)
{
    with_size(element_bytes, [&]<typename T>() { copy_strided<T>(out, out_stride, in, in_stride, elements); });
}

}  // namespace

ElementMover::ElementMover(const CastTable& table, model::DType from, model::DType to, bool streaming) noexcept
    : copy_{streaming && table.streams() ? table.streamed_copy : copy_bytes}, from_bytes_{model::size_bytes(from)},
      to_bytes_{model::size_bytes(to)}
{
    if (from == to) {
        return;
    }
    const Element from_element = element_of(from);
    const Element to_element = element_of(to);
    if (from_element != to_element) {
        const CastLoops& loops = streaming && table.streams() ? table.streamed_casts : table.casts;
        cast_ = loops[static_cast<std::size_t>(from_element)][static_cast<std::size_t>(to_element)];
    }
}

void ElementMover::strided(std::byte* out, std::int64_t out_stride, const std::byte* in, std::int64_t in_stride,
                           std::size_t elements) const noexcept
{
    const bool out_dense = out_stride == static_cast<std::int64_t>(to_bytes_);
    const bool in_dense = in_stride == static_cast<std::int64_t>(from_bytes_);
    if (out_dense && in_dense) {
        return contiguous(out, in, elements);
    }
    if (cast_ == nullptr) {
        return copy_strided_of(to_bytes_, out, out_stride, in, in_stride, elements);
    }
    alignas(64) std::byte gathered[chunk_elements * largest_element_bytes];
    alignas(64) std::byte converted[chunk_elements * largest_element_bytes];
    while (elements != 0) {
        const std::size_t count = std::min(elements, chunk_elements);
        const auto step = static_cast<std::int64_t>(count);
        if (!in_dense) {
            copy_strided_of(from_bytes_, gathered, static_cast<std::int64_t>(from_bytes_), in, in_stride, count);
        }
        cast_(out_dense ? out : converted, in_dense ? in : gathered, count);
        if (!out_dense) {
            copy_strided_of(to_bytes_, out, out_stride, converted, static_cast<std::int64_t>(to_bytes_), count);
        }
        out += step * out_stride;
        in += step * in_stride;
        elements -= count;
    }
}

void ElementMover::crossed(std::byte* out, std::int64_t out_row_stride, std::size_t rows, const std::byte* in,
                           std::int64_t in_row_stride, std::int64_t in_column_stride,
                           std::size_t columns) const noexcept
{
    alignas(64) std::byte block[block_elements * block_elements * largest_element_bytes];
    for (std::size_t column = 0; column < columns; column += block_elements) {
        const std::size_t wide = std::min(block_elements, columns - column);
        for (std::size_t row = 0; row < rows; row += block_elements) {
            const std::size_t high = std::min(block_elements, rows - row);
            const std::byte* const from = in + static_cast<std::int64_t>(row) * in_row_stride +
                                          static_cast<std::int64_t>(column) * in_column_stride;
            std::byte* const to = out + static_cast<std::int64_t>(row) * out_row_stride + column * to_bytes_;
            const bool direct = cast_ == nullptr;
            const auto block_stride = static_cast<std::int64_t>(wide * from_bytes_);
            with_size(from_bytes_, [&]<typename T>() {
                copy_block<T>(direct ? to : block, direct ? out_row_stride : block_stride, high, from, in_row_stride,
                              in_column_stride, wide);
            });
            for (std::size_t line = 0; !direct && line < high; ++line) {
                const auto at = static_cast<std::int64_t>(line);
                cast_(to + at * out_row_stride, block + at * block_stride, wide);
            }
        }
    }
}

}  // namespace memsweep::array
