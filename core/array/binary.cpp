#include "core/array/array.hpp"

#include <algorithm>
#include <type_traits>

#include "core/array/half.hpp"
#include "core/array/layout.hpp"
#include "core/base/barrier.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::BinaryFunction;
using model::DType;

struct Complex {
    double re, im;
};

// What an element is in memory and how two of them combine.
struct BoolTraits {
    using Element = std::uint8_t;
    static Element add(Element a, Element b) { return static_cast<Element>(a | b); }
    static Element multiply(Element a, Element b) { return static_cast<Element>(a & b); }
};

// Unsigned throughout: the same bits as signed arithmetic that wraps. Short types would be promoted to int, whose
// overflow is undefined, so they are widened to unsigned by hand.
template <typename Unsigned>
struct IntegerTraits {
    using Element = Unsigned;
    using Wide = std::common_type_t<Unsigned, std::uint32_t>;
    static Element add(Element a, Element b) { return static_cast<Element>(Wide{a} + Wide{b}); }
    static Element multiply(Element a, Element b) { return static_cast<Element>(Wide{a} * Wide{b}); }
};

template <typename Float>
struct FloatTraits {
    using Element = Float;
    static Element add(Element a, Element b) { return a + b; }
    static Element multiply(Element a, Element b) { return a * b; }
};

struct HalfTraits {
    using Element = std::uint16_t;
    static Element add(Element a, Element b) { return half_from_float(float_from_half(a) + float_from_half(b)); }
    static Element multiply(Element a, Element b) { return half_from_float(float_from_half(a) * float_from_half(b)); }
};

struct ComplexTraits {
    using Element = Complex;
    static Element add(Element a, Element b) { return {a.re + b.re, a.im + b.im}; }
    static Element multiply(Element a, Element b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

template <typename Element, typename Combine>
void run_dense(Element* __restrict out, const Element* __restrict left, const Element* __restrict right,
               std::uint64_t elements, Combine combine)
{
    for (std::uint64_t i = 0; i < elements; ++i) {
        out[i] = combine(left[i], right[i]);
    }
}

template <typename Element, typename Combine>
void run_row(Element* out, const std::byte* left, const std::byte* right, const Row& row, Combine combine)
{
    for (std::uint64_t i = 0; i < row.elements; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        out[i] = combine(*reinterpret_cast<const Element*>(left + at * row.left_stride_bytes),
                         *reinterpret_cast<const Element*>(right + at * row.right_stride_bytes));
    }
}

template <typename Element, typename Combine>
void run(Element* out, const Array& left, const Array& right, Combine combine)
{
    if (left.is_contiguous() && right.is_contiguous()) {
        return run_dense(out, static_cast<const Element*>(left.data()), static_cast<const Element*>(right.data()),
                         left.elements(), combine);
    }
    const auto* const left_base = static_cast<const std::byte*>(left.buffer().data());
    const auto* const right_base = static_cast<const std::byte*>(right.buffer().data());
    for_each_row(left.layout(), right.layout(), [&](const Row& row) {
        run_row(out + row.number * row.elements, left_base + row.left_bytes, right_base + row.right_bytes, row,
                combine);
    });
}

template <typename Traits>
void run_function(void* out, BinaryFunction function, const Array& left, const Array& right)
{
    using Element = typename Traits::Element;
    auto* const result = static_cast<Element*>(out);
    switch (function) {
    case BinaryFunction::add:
        return run(result, left, right, [](Element a, Element b) { return Traits::add(a, b); });
    case BinaryFunction::multiply:
        return run(result, left, right, [](Element a, Element b) { return Traits::multiply(a, b); });
    }
}

void run_typed(void* out, BinaryFunction function, const Array& left, const Array& right)
{
    switch (left.dtype()) {
    case DType::boolean:
        return run_function<BoolTraits>(out, function, left, right);
    case DType::int8:
    case DType::uint8:
        return run_function<IntegerTraits<std::uint8_t>>(out, function, left, right);
    case DType::int16:
    case DType::uint16:
    case DType::char16:
        return run_function<IntegerTraits<std::uint16_t>>(out, function, left, right);
    case DType::int32:
    case DType::uint32:
        return run_function<IntegerTraits<std::uint32_t>>(out, function, left, right);
    case DType::int64:
    case DType::uint64:
        return run_function<IntegerTraits<std::uint64_t>>(out, function, left, right);
    case DType::float16:
        return run_function<HalfTraits>(out, function, left, right);
    case DType::float32:
        return run_function<FloatTraits<float>>(out, function, left, right);
    case DType::float64:
        return run_function<FloatTraits<double>>(out, function, left, right);
    case DType::complex128:
        return run_function<ComplexTraits>(out, function, left, right);
    case DType::decimal128:
        return;  // refused before anything was allocated
    }
}

}  // namespace

Array::Result binary(lifetime::Heap& heap, BinaryFunction function, const Array& left, const Array& right) noexcept
{
    if (left.dtype() != right.dtype() || left.dtype() == DType::decimal128 ||
        !std::ranges::equal(left.shape(), right.shape())) {
        return {{}, AllocStatus::bad_request};
    }
    Array::Result made = Array::create(heap, left.dtype(), left.shape(), model::Fill::none, model::Touch::none);
    if (made.status == AllocStatus::ok && made.array.elements() != 0) {
        run_typed(made.array.data(), function, left, right);
        base::keep_stores(made.array.data());
    }
    return made;
}

}  // namespace memsweep::array
