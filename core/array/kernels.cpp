#include "core/array/kernels.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>

#include "core/array/half.hpp"
#include "core/base/barrier.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::array {
namespace {

using model::DType;
using model::Fill;

struct Decimal128 {
    std::uint64_t low;
    std::uint64_t high;
};

template <typename T, typename ValueAt>
void write_all(void* ptr, std::uint64_t elements, ValueAt value_at)
{
    auto* const out = static_cast<T*>(ptr);
    for (std::uint64_t i = 0; i < elements; ++i) {
        out[i] = value_at(i);
    }
}

// `convert` turns an element's number into its value; ones are all the value of number 1.
template <typename T, typename Convert>
void fill_with(void* ptr, std::uint64_t elements, Fill fill, Convert convert)
{
    if (fill == Fill::ones) {
        write_all<T>(ptr, elements, [one = convert(1)](std::uint64_t) { return one; });
    } else {
        write_all<T>(ptr, elements, convert);
    }
}

template <typename T>
void fill_numbers(void* ptr, std::uint64_t elements, Fill fill)
{
    fill_with<T>(ptr, elements, fill, [](std::uint64_t number) { return static_cast<T>(number); });
}

// Signed and unsigned integers of one size wrap to the same bits.
void fill_typed(void* ptr, std::uint64_t elements, DType dtype, Fill fill)
{
    switch (dtype) {
    case DType::boolean:
        return fill_with<std::uint8_t>(ptr, elements, fill,
                                       [](std::uint64_t number) { return std::uint8_t{number != 0}; });
    case DType::int8:
    case DType::uint8:
        return fill_numbers<std::uint8_t>(ptr, elements, fill);
    case DType::int16:
    case DType::uint16:
    case DType::char16:
        return fill_numbers<std::uint16_t>(ptr, elements, fill);
    case DType::int32:
    case DType::uint32:
        return fill_numbers<std::uint32_t>(ptr, elements, fill);
    case DType::int64:
    case DType::uint64:
        return fill_numbers<std::uint64_t>(ptr, elements, fill);
    case DType::float16:
        return fill_with<std::uint16_t>(
            ptr, elements, fill, [](std::uint64_t number) { return half_from_float(static_cast<float>(number)); });
    case DType::float32:
        return fill_numbers<float>(ptr, elements, fill);
    case DType::float64:
        return fill_numbers<double>(ptr, elements, fill);
    case DType::decimal128:
        return fill_with<Decimal128>(ptr, elements, fill, [](std::uint64_t number) { return Decimal128{number, 0}; });
    case DType::complex128:
        return fill_with<std::complex<double>>(ptr, elements, fill, [](std::uint64_t number) {
            return std::complex<double>{static_cast<double>(number)};
        });
    }
}

}  // namespace

std::uint64_t pages_spanned(const void* ptr, std::uint64_t bytes, std::uint64_t page_bytes) noexcept
{
    if (bytes == 0) {
        return 0;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(ptr);
    return (first + bytes - 1) / page_bytes - first / page_bytes + 1;
}

std::uint64_t touch(void* ptr, std::uint64_t bytes, model::Touch touch) noexcept
{
    if (touch == model::Touch::none || bytes == 0) {
        return 0;
    }
    if (touch == model::Touch::page) {
        return sys::touch_pages(ptr, bytes);
    }
    std::memset(ptr, 0, bytes);
    base::keep_stores(ptr);
    return pages_spanned(ptr, bytes, sys::page_size());
}

void write_over(void* ptr, std::uint64_t bytes) noexcept
{
    constexpr int data = 0x5A;
    std::memset(ptr, data, bytes);
    base::keep_stores(ptr);
}

void fill(void* ptr, std::uint64_t elements, DType dtype, Fill fill) noexcept
{
    if (fill == Fill::none || elements == 0) {
        return;
    }
    if (fill == Fill::zeros) {
        std::memset(ptr, 0, elements * model::size_bytes(dtype));
    } else {
        fill_typed(ptr, elements, dtype, fill);
    }
    base::keep_stores(ptr);
}

std::uint64_t checksum(const void* data, std::uint64_t bytes) noexcept
{
    const auto* const from = static_cast<const std::byte*>(data);
    std::uint64_t sum = bytes;
    std::uint64_t at = 0;
    for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + at, sizeof word);
        sum += word;
    }
    std::uint64_t rest = 0;
    if (at < bytes) {
        std::memcpy(&rest, from + at, bytes - at);
    }
    return sum + rest;
}

std::uint64_t ordered_checksum(const void* data, std::uint64_t bytes) noexcept
{
    constexpr std::uint64_t stretch = 64;
    const auto* const from = static_cast<const std::byte*>(data);
    std::uint64_t total = 0;
    for (std::uint64_t at = 0; at < bytes; at += stretch) {
        total = total * checksum_factor + checksum(from + at, std::min(stretch, bytes - at));
    }
    return total;
}

}  // namespace memsweep::array
