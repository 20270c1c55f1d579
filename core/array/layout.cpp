#include "core/array/layout.hpp"

#include <algorithm>

#include "core/base/assert.hpp"

namespace memsweep::array {
namespace {

// Where a bound of a slice lies on an axis of `length`: between `lowest` and `highest`, which depend on the direction.
std::int64_t clamped(std::int64_t bound, std::int64_t length, std::int64_t lowest, std::int64_t highest)
{
    return std::clamp(bound < 0 ? bound + length : bound, lowest, highest);
}

}  // namespace

bool Layout::is_contiguous(std::uint64_t element_bytes) const noexcept
{
    auto expected = static_cast<std::int64_t>(element_bytes);
    bool contiguous = true;
    for (std::size_t axis = dimensions; axis-- > 0;) {
        if (shape[axis] == 0) {
            return true;
        }
        contiguous = contiguous && (shape[axis] == 1 || strides_bytes[axis] == expected);
        expected *= static_cast<std::int64_t>(shape[axis]);
    }
    return contiguous;
}

Layout sliced(Layout layout, std::size_t axis, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
              std::int64_t step) noexcept
{
    MEMSWEEP_ASSERT(axis < layout.dimensions, "a slice of an axis that the array does not have");
    MEMSWEEP_ASSERT(step != 0 && step != std::numeric_limits<std::int64_t>::min(), "a slice's step is not 0");
    const auto length = static_cast<std::int64_t>(layout.shape[axis]);
    const bool forward = step > 0;
    const std::int64_t lowest = forward ? 0 : -1;
    const std::int64_t highest = forward ? length : length - 1;
    const std::int64_t first = start ? clamped(*start, length, lowest, highest) : (forward ? lowest : highest);
    const std::int64_t end = stop ? clamped(*stop, length, lowest, highest) : (forward ? highest : lowest);
    const std::int64_t span = forward ? end - first : first - end;
    const std::int64_t stride = forward ? step : -step;
    layout.shape[axis] = span <= 0 ? 0 : static_cast<std::uint64_t>((span - 1) / stride + 1);
    if (layout.shape[axis] != 0) {
        const std::int64_t moved = static_cast<std::int64_t>(layout.offset_bytes) + first * layout.strides_bytes[axis];
        layout.offset_bytes = static_cast<std::uint64_t>(moved);
    }
    // A stride is only ever multiplied by indices below the length; with fewer than two it may be anything.
    layout.strides_bytes[axis] =
        layout.shape[axis] > 1 ? layout.strides_bytes[axis] * step : layout.strides_bytes[axis];
    return layout;
}

Layout transposed(const Layout& layout) noexcept
{
    Layout reversed = layout;
    for (std::size_t axis = 0; axis < layout.dimensions; ++axis) {
        const std::size_t from = layout.dimensions - 1 - axis;
        reversed.shape[axis] = layout.shape[from];
        reversed.strides_bytes[axis] = layout.strides_bytes[from];
    }
    return reversed;
}

std::optional<Layout> broadcast(const Layout& layout, std::span<const std::uint64_t> shape) noexcept
{
    constexpr std::uint64_t max_element_bytes = 16;
    std::optional<Layout> made = Layout::of(shape, max_element_bytes);
    if (shape.size() < layout.dimensions || !made) {
        return std::nullopt;
    }
    Layout& wide = *made;
    wide.offset_bytes = layout.offset_bytes;
    const std::size_t missing = shape.size() - layout.dimensions;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        wide.strides_bytes[axis] = 0;
        if (axis < missing) {
            continue;
        }
        const std::uint64_t own = layout.shape[axis - missing];
        if (own == shape[axis]) {
            wide.strides_bytes[axis] = layout.strides_bytes[axis - missing];
        } else if (own != 1) {
            return std::nullopt;
        }
    }
    return made;
}

}  // namespace memsweep::array
