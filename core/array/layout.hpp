// Shape and strides of an array, held in the object itself: making a view must not allocate.
//
// Units    shape in elements, strides in bytes and signed; slowest-varying dimension first.
// Errors   false or an empty optional where a shape does not fit; a broken index is a bug.
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
    // Entries beyond `dimensions` are indeterminate: writing and copying them would be most of an array's cost.
    std::array<std::uint64_t, max_dimensions> shape;
    std::array<std::int64_t, max_dimensions> strides_bytes;
    std::uint64_t offset_bytes{};  // where element (0, 0, ...) lies, from the start of the buffer
    std::size_t dimensions{};

    Layout() noexcept {}  // NOLINT(modernize-use-equals-default): a defaulted one clears everything for Layout{}
    Layout(const Layout& other) noexcept { copy(other); }
    Layout& operator=(const Layout& other) noexcept
    {
        if (this != &other) {
            copy(other);
        }
        return *this;
    }
    ~Layout() = default;

    // False: there are more dimensions than fit, or the size in bytes is not below 2^63, empty axes counted as one.
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

    // Row-major without gaps; empty where the shape does not fit.
    [[nodiscard]] static std::optional<Layout> of(std::span<const std::uint64_t> of_shape,
                                                  std::uint64_t element_bytes) noexcept
    {
        std::optional<Layout> made;
        if (fits(of_shape, element_bytes)) {
            made.emplace().lay_out(of_shape, element_bytes);
        }
        return made;
    }

    // The same in place, of a shape that fits.
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
            // An empty axis makes the array empty but leaves the other strides what they would be.
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

    // Row-major without gaps. An array of at most one element always is, as are dimensions of length 1.
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

// Python's slice of one axis. An absent bound is the end that `step` starts from or runs to. A negative bound counts
// from the end. A bound beyond the axis is cut to it. `step` is not 0.
[[nodiscard]] Layout sliced(Layout layout, std::size_t axis, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> stop, std::int64_t step) noexcept;

// The axes in reverse order.
[[nodiscard]] Layout transposed(const Layout& layout) noexcept;

// NumPy's rule: axes are matched from the last, and one of length 1 or missing is repeated, with stride 0. Empty also
// where a contiguous copy would not fit.
[[nodiscard]] std::optional<Layout> broadcast(const Layout& layout, std::span<const std::uint64_t> shape) noexcept;

// One innermost row of two arrays of one shape: where it starts in each buffer, and the bytes from one element to the
// next.
struct Row {
    std::uint64_t number{};
    std::uint64_t elements{};
    std::int64_t left_bytes{};
    std::int64_t right_bytes{};
    std::int64_t left_stride_bytes{};
    std::int64_t right_stride_bytes{};
};

// Walks two arrays of one shape row by row, for the kernels of non-contiguous arrays: calls visit(row) for each row in
// row-major order, and never for an empty array.
//
// Cost     a few additions per row; the innermost axis is the kernel's.
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
        // The next index of the outer axes, as a mileage counter turns.
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
