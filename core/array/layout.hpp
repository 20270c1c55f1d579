// Shape and strides of an array, stored in the object itself, so that making a view does not allocate.
//
// Units    shape in elements, strides in bytes and signed; slowest-varying dimension first.
// Errors   a function returns false or nullopt if a shape does not fit (see fits()); an index out of range is a bug.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "core/base/checked.hpp"

namespace memsweep::array {

inline constexpr std::size_t max_dimensions = 8;

struct Layout {
    // Entries with an index of at least `dimensions` are indeterminate, because writing and copying them would be most
    // of the cost of making an array.
    std::array<std::uint64_t, max_dimensions> shape;
    std::array<std::int64_t, max_dimensions> strides_bytes;
    std::uint64_t offset_bytes{};  // from the start of the buffer to element (0, 0, ...)
    std::size_t dimensions{};

    Layout() noexcept {}  // NOLINT(modernize-use-equals-default): a defaulted one would let Layout{} clear everything
    Layout(const Layout& other) noexcept { copy(other); }
    Layout& operator=(const Layout& other) noexcept
    {
        if (this != &other) {
            copy(other);
        }
        return *this;
    }
    ~Layout() = default;

    // Says whether a shape fits: it has at most max_dimensions axes and a size below 2^63 bytes. For the size, an axis
    // of length 0 counts as 1.
    [[nodiscard]] static bool fits(std::span<const std::uint64_t> of_shape, std::uint64_t element_bytes) noexcept
    {
        std::optional<std::uint64_t> bytes{element_bytes};
        for (const std::uint64_t length : of_shape) {
            bytes = base::checked_mul(*bytes, std::max<std::uint64_t>(length, 1));
            if (!bytes || *bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                return false;
            }
        }
        return of_shape.size() <= max_dimensions;
    }

    // Returns the row-major layout without gaps; nullopt if the shape does not fit.
    [[nodiscard]] static std::optional<Layout> of(std::span<const std::uint64_t> of_shape,
                                                  std::uint64_t element_bytes) noexcept
    {
        std::optional<Layout> made;
        if (fits(of_shape, element_bytes)) {
            made.emplace().lay_out(of_shape, element_bytes);
        }
        return made;
    }

    // Makes this the row-major layout without gaps. The shape must fit.
    void lay_out(std::span<const std::uint64_t> of_shape, std::uint64_t element_bytes) noexcept
    {
        dimensions = of_shape.size();
        offset_bytes = 0;
        if (dimensions == 1) [[likely]] {
            shape[0] = of_shape[0];
            strides_bytes[0] = static_cast<std::int64_t>(element_bytes);
            return;
        }
        std::uint64_t stride = element_bytes;
        for (std::size_t axis = dimensions; axis-- > 0;) {
            shape[axis] = of_shape[axis];
            strides_bytes[axis] = static_cast<std::int64_t>(stride);
            // An axis of length 0 counts as 1 here, so that it does not make the other strides 0.
            stride *= std::max<std::uint64_t>(of_shape[axis], 1);
        }
    }

    [[nodiscard]] std::span<const std::uint64_t> used_shape() const noexcept { return {shape.data(), dimensions}; }
    [[nodiscard]] std::uint64_t elements() const noexcept
    {
        std::uint64_t product = 1;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            product *= shape[axis];
        }
        return product;
    }

    // Says whether the layout is row-major without gaps. Strides of axes of length 1 do not matter. An array of at most
    // one element is always contiguous.
    [[nodiscard]] bool is_contiguous(std::uint64_t element_bytes) const noexcept;

  private:
    void copy(const Layout& other) noexcept
    {
        offset_bytes = other.offset_bytes;
        dimensions = other.dimensions;
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
            shape[axis] = other.shape[axis];
            strides_bytes[axis] = other.strides_bytes[axis];
        }
    }
};

// Slices one axis as Python does. If `start` is absent, the slice begins at the first element in the direction of
// `step`; if `stop` is absent, it ends after the last one. A negative bound counts from the end. A bound beyond the
// axis is clamped. `step` must not be 0.
[[nodiscard]] Layout sliced(Layout layout, std::size_t axis, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> stop, std::int64_t step) noexcept;

// Returns the layout with its axes in reverse order.
[[nodiscard]] Layout transposed(const Layout& layout) noexcept;

// Broadcasts to a shape by NumPy's rule: axes are matched from the last one, and an axis that is missing or has length
// 1 is repeated, with stride 0. Returns nullopt if the shapes do not match, or if a contiguous copy of the result would
// not fit.
[[nodiscard]] std::optional<Layout> broadcast(const Layout& layout, std::span<const std::uint64_t> shape) noexcept;

// An innermost row of two arrays of equal shape: where the row starts in each buffer, and the stride from one element
// to the next, both in bytes.
struct Row {
    std::uint64_t number{};
    std::uint64_t elements{};
    std::int64_t left_bytes{};
    std::int64_t right_bytes{};
    std::int64_t left_stride_bytes{};
    std::int64_t right_stride_bytes{};
};

// Visits two arrays of equal shape row by row, for kernels on non-contiguous arrays. Calls visit(row) for each row in
// row-major order; not at all for an empty array.
//
// Cost     a few additions per row; the kernel loops over the innermost axis.
template <typename Visit>
void for_each_row(const Layout& left, const Layout& right, Visit visit)
{
    const std::uint64_t elements = left.elements();
    if (elements == 0) {
        return;
    }
    const std::size_t inner = left.dimensions == 0 ? 0 : left.dimensions - 1;
    Row row{0,
            left.dimensions == 0 ? 1 : left.shape[inner],
            static_cast<std::int64_t>(left.offset_bytes),
            static_cast<std::int64_t>(right.offset_bytes),
            left.dimensions == 0 ? 0 : left.strides_bytes[inner],
            right.dimensions == 0 ? 0 : right.strides_bytes[inner]};
    const std::uint64_t rows = elements / row.elements;
    std::array<std::uint64_t, max_dimensions> index{};
    while (true) {
        visit(static_cast<const Row&>(row));
        if (++row.number == rows) {
            return;
        }
        // Advances the index of the outer axes like an odometer.
        for (std::size_t axis = inner; axis-- > 0;) {
            row.left_bytes += left.strides_bytes[axis];
            row.right_bytes += right.strides_bytes[axis];
            if (++index[axis] < left.shape[axis]) {
                break;
            }
            row.left_bytes -= left.strides_bytes[axis] * static_cast<std::int64_t>(left.shape[axis]);
            row.right_bytes -= right.strides_bytes[axis] * static_cast<std::int64_t>(right.shape[axis]);
            index[axis] = 0;
        }
    }
}

}  // namespace memsweep::array
