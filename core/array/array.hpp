// An n-dimensional array over a reference-counted buffer. Views share the buffer and count as handles on it.
//
// Units    shape in elements, strides in bytes; slowest-varying dimension first.
// Cost     a view: one locked addition. An array: what its heap, its fill and its touch cost.
// Memory   shape and strides lie inside the handle (8 dimensions at most), so views allocate nothing.
// Errors   AllocStatus: bad_request for a shape that does not fit or does not match, otherwise the resource's status.
//          An axis or index out of range is a bug.
// Threads  as Buffer: a handle belongs to one thread at a time.
// Ownership  every view keeps the whole buffer. A default or moved-from array has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/array/layout.hpp"
#include "core/lifetime/heap.hpp"
#include "core/model/elements.hpp"

namespace memsweep::array {

// The properties of arrays that are made alike, worked out once for all of them. It has plain values only, so that it
// can be sent to a worker.
//
// zeros with no touch, or with one touch per page, takes zeroed memory from the resource and writes nothing else. zeros
// with full touch takes plain memory and writes all of it. ones and arange write everything, whatever the touch.
// Without a fill it takes plain memory and touches it.
struct ArraySpec {
    ArraySpec() noexcept = default;

    // The shape has to fit: see Layout::fits.
    ArraySpec(model::DType element, std::span<const std::uint64_t> shape, model::Fill filled,
              model::Touch touched) noexcept
        : bytes{model::size_bytes(element)}, element_bytes{static_cast<std::uint8_t>(bytes)}, dtype{element},
          fill{filled}, touch{touched}, zeroed{filled == model::Fill::zeros && touched != model::Touch::full},
          written{zeroed ? touched != model::Touch::none : filled != model::Fill::none || touched != model::Touch::none}
    {
        for (const std::uint64_t length : shape) {
            bytes *= length;
        }
    }

    std::uint64_t bytes{};
    std::uint8_t element_bytes{};
    model::DType dtype{};
    model::Fill fill{};
    model::Touch touch{};
    bool zeroed{};   // zeros that need not be written one by one, as np.zeros takes them from calloc
    bool written{};  // whoever makes the array fills or touches it
};

class Array {
  public:
    struct Result;
    using Shape = std::span<const std::uint64_t>;

    Array() noexcept = default;

    [[nodiscard]] static Result create(lifetime::Heap& heap, model::DType dtype, Shape shape, model::Fill fill,
                                       model::Touch touch) noexcept;

    // Drops this array's buffer and makes the array that the spec describes, in place. If its memory is refused, the
    // array has no buffer. `shape` is that of the spec.
    [[nodiscard]] memory::AllocStatus renew(lifetime::Heap& heap, const ArraySpec& spec, Shape shape) noexcept
    {
        const memory::AllocStatus status = heap.allocate_into(buffer_, spec.bytes, array_alignment, spec.zeroed);
        if (status != memory::AllocStatus::ok) [[unlikely]] {
            reset();
            return status;
        }
        dtype_ = spec.dtype;
        layout_.lay_out(shape, spec.element_bytes);
        if (spec.written) {
            write_elements(spec);
        }
        return status;
    }

    // Drops the buffer; the array has none then.
    void reset() noexcept
    {
        buffer_.reset();
        layout_.dimensions = 0;
        layout_.offset_bytes = 0;
    }

    // An array over memory that is already there; bad_request when the buffer is too small for the shape.
    [[nodiscard]] static Result over(lifetime::Buffer buffer, model::DType dtype, Shape shape) noexcept;

    [[nodiscard]] model::DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] std::size_t dimensions() const noexcept { return layout_.dimensions; }
    [[nodiscard]] Shape shape() const noexcept { return layout_.used_shape(); }
    [[nodiscard]] std::span<const std::int64_t> strides_bytes() const noexcept
    {
        return {layout_.strides_bytes.data(), layout_.dimensions};
    }
    [[nodiscard]] std::uint64_t elements() const noexcept { return layout_.elements(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return elements() * model::size_bytes(dtype_); }
    [[nodiscard]] bool is_contiguous() const noexcept { return layout_.is_contiguous(model::size_bytes(dtype_)); }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }

    // Element (0, 0, ...). [data(), data() + bytes()) is the array only if it is contiguous.
    [[nodiscard]] void* data() const noexcept { return static_cast<std::byte*>(buffer_.data()) + layout_.offset_bytes; }
    [[nodiscard]] void* at(std::span<const std::uint64_t> index) const noexcept;
    [[nodiscard]] const lifetime::Buffer& buffer() const noexcept { return buffer_; }
    [[nodiscard]] lifetime::Buffer& handle() noexcept { return buffer_; }  // for a manual free
    [[nodiscard]] bool is_freed() const noexcept { return buffer_.is_freed(); }
    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

    // Views. A broadcast view has several elements at one address: it is for reading only.
    [[nodiscard]] Array slice(std::size_t axis, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                              std::int64_t step = 1) const noexcept
    {
        return Array{buffer_, dtype_, sliced(layout_, axis, start, stop, step)};
    }
    [[nodiscard]] Array transpose() const noexcept { return Array{buffer_, dtype_, transposed(layout_)}; }
    [[nodiscard]] Result broadcast_to(Shape shape) const noexcept;

    // A contiguous copy in memory of its own.
    [[nodiscard]] Result copy(lifetime::Heap& heap) const noexcept;

  private:
    // The alignment of malloc and calloc, which NumPy's arrays have too.
    static constexpr std::size_t array_alignment = alignof(std::max_align_t);

    void write_elements(const ArraySpec& spec) noexcept;

    Array(lifetime::Buffer buffer, model::DType dtype, const Layout& layout) noexcept
        : buffer_{std::move(buffer)}, layout_{layout}, dtype_{dtype}
    {
    }

    lifetime::Buffer buffer_;
    Layout layout_;
    model::DType dtype_{model::DType::float64};
};

struct Array::Result {
    Array array;
    memory::AllocStatus status{memory::AllocStatus::ok};
};

// Two arrays combined element by element into a fresh one: NumPy's binary ufunc without `out`, where every call pays
// for a new result.
//
// Cost     one pass; contiguous operands run in loops that GCC vectorises, others row by row.
// Sources  integers wrap; bool adds with "or" and multiplies with "and"; float16 is computed in single precision;
//          complex multiplication is the plain formula, without C's recovery of infinities.
// Errors   bad_request: types or shapes differ, or the type is decimal128, which has no arithmetic here; otherwise the
//          status of the result's allocation.
[[nodiscard]] Array::Result binary(lifetime::Heap& heap, model::BinaryFunction function, const Array& left,
                                   const Array& right) noexcept;

}  // namespace memsweep::array
