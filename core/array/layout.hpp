// Shape and strides of an array, inline: making a view must not allocate.
//
// Units    shape in elements, strides in bytes and signed; slowest-varying dimension first.
// Errors   an empty optional where a shape does not fit; a broken index is a bug.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace memsweep::array {

inline constexpr std::size_t max_dimensions = 8;

struct Layout {
    std::array<std::uint64_t, max_dimensions> shape{};
    std::array<std::int64_t, max_dimensions> strides_bytes{};
    std::uint64_t offset_bytes{};  // of element (0, 0, ...), from the start of the buffer
    std::size_t dimensions{};

    [[nodiscard]] std::uint64_t elements() const noexcept;

    // Row-major without gaps. An array of at most one element always is, as are dimensions of length 1.
    [[nodiscard]] bool is_contiguous(std::uint64_t element_bytes) const noexcept;
};

// Empty when there are more dimensions than fit or the size in bytes is not below 2^63.
[[nodiscard]] std::optional<Layout> contiguous_layout(std::span<const std::uint64_t> shape,
                                                      std::uint64_t element_bytes) noexcept;

// Python's slice of one axis: an absent bound is the end that `step` starts from or runs to, a negative one counts
// from the end, one beyond the axis is cut to it. `step` is not 0.
[[nodiscard]] Layout sliced(Layout layout, std::size_t axis, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> stop, std::int64_t step) noexcept;

// The axes in reverse order.
[[nodiscard]] Layout transposed(const Layout& layout) noexcept;

// NumPy's rule: axes are matched from the last, and one of length 1 or missing is repeated, with stride 0. Empty also
// where a contiguous copy would not fit.
[[nodiscard]] std::optional<Layout> broadcast(const Layout& layout, std::span<const std::uint64_t> shape) noexcept;

}  // namespace memsweep::array
