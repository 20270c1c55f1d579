// An n-dimensional array over a reference-counted buffer. Views share the buffer and count as references to it.
//
// Units    shape in elements, strides in bytes; slowest-varying dimension first.
// Cost     a view: one atomic addition. An array: the cost of its heap, its fill and its touch.
// Memory   shape and strides (at most 8 dimensions) are stored in the object, so views allocate nothing.
// Errors   an AllocStatus: bad_request if a shape is too large or does not match, otherwise the resource's status. An
//          axis or index out of range is a bug.
// Threads  as Buffer: a handle belongs to one thread at a time.
// Ownership  every view keeps the whole buffer alive. A default-constructed or moved-from array has no buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/array/layout.hpp"
#include "core/lifetime/heap.hpp"
#include "core/model/elements.hpp"

namespace memsweep::array {

// The properties of an array. They are computed a single time for a series of equal arrays. All members are plain
// values, so that the struct can be sent to a worker process.
//
// How an array is made:
// - zeros, with no touch or one touch per page: takes zeroed memory from the resource; writes nothing except the
//   touches.
// - zeros, with full touch: takes plain memory and writes all of it.
// - ones and arange: take plain memory and write all of it, whatever the touch is.
// - no fill: takes plain memory and touches it as `touch` says.
struct ArraySpec {
    ArraySpec() noexcept = default;

    // `shape` must satisfy Layout::fits.
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
    bool zeroed{};   // takes zeroed memory from the resource, as np.zeros does by calloc
    bool written{};  // making the array writes to its memory: a fill or a touch
};

class Array {
  public:
    struct Result;
    using Shape = std::span<const std::uint64_t>;

    Array() noexcept = default;

    [[nodiscard]] static Result create(lifetime::Heap& heap, model::DType dtype, Shape shape, model::Fill fill,
                                       model::Touch touch) noexcept;

    // Drops this array's buffer and makes the array that the spec describes, in place. If the allocation fails, the
    // array has no buffer. `shape` must be the shape of the spec.
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

    // Drops the buffer. Afterwards the array has none.
    void reset() noexcept
    {
        buffer_.reset();
        layout_.dimensions = 0;
        layout_.offset_bytes = 0;
    }

    // Makes an array that uses an existing buffer. The status is bad_request if the buffer is too small for the shape.
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

    // Returns the address of element (0, 0, ...). The elements fill exactly [data(), data() + bytes()) only if the
    // array is contiguous.
    [[nodiscard]] void* data() const noexcept { return static_cast<std::byte*>(buffer_.data()) + layout_.offset_bytes; }
    [[nodiscard]] void* at(std::span<const std::uint64_t> index) const noexcept;
    [[nodiscard]] const lifetime::Buffer& buffer() const noexcept { return buffer_; }
    [[nodiscard]] lifetime::Buffer& handle() noexcept { return buffer_; }  // for a manual free
    [[nodiscard]] bool is_freed() const noexcept { return buffer_.is_freed(); }
    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

    // slice(), transpose() and broadcast_to() make views. A broadcast view has several elements at one address and must
    // only be read.
    [[nodiscard]] Array slice(std::size_t axis, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                              std::int64_t step = 1) const noexcept
    {
        return Array{buffer_, dtype_, sliced(layout_, axis, start, stop, step)};
    }
    [[nodiscard]] Array transpose() const noexcept { return Array{buffer_, dtype_, transposed(layout_)}; }
    [[nodiscard]] Result broadcast_to(Shape shape) const noexcept;

    // Makes a contiguous copy in a new buffer.
    [[nodiscard]] Result copy(lifetime::Heap& heap) const noexcept;

  private:
    // The alignment of malloc and calloc, and so of NumPy's arrays.
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

// Combines two arrays element by element into a new array, like a binary ufunc of NumPy that is called without `out`.
// So every call allocates its result.
//
// Cost     one pass. Contiguous operands run in loops that GCC vectorises; others are processed row by row.
// Sources  NumPy: integers wrap; bool adds by "or" and multiplies by "and"; float16 is computed in single precision;
//          complex multiplication is the textbook formula, without C's recovery of infinities.
// Errors   bad_request: types or shapes differ, or the type is decimal128, for which no arithmetic exists; otherwise
//          the status of the result's allocation.
[[nodiscard]] Array::Result binary(lifetime::Heap& heap, model::BinaryFunction function, const Array& left,
                                   const Array& right) noexcept;

}  // namespace memsweep::array
