// Elements of arrays: their types, what fills them, which of their pages are written, and what is computed from them.
//
// Types are named as NumPy names them, with the two that NumPy lacks (char16, decimal128).
// Sources  NumPy's promotion of arrays (NEP 50: by type alone, never by value) and its five casting rules. char counts
//          as uint16, except that char with char stays char. decimal, 16 opaque bytes, goes with nothing but itself.
// Cost     a few comparisons.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class DType : std::uint8_t {
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    char16,  // a UTF-16 code unit
    float16,
    float32,
    float64,
    decimal128,  // 16 opaque bytes
    complex128,
};

template <>
std::span<const Named<DType>> names<DType>();

[[nodiscard]] constexpr std::uint64_t size_bytes(DType dtype)
{
    switch (dtype) {
    case DType::boolean:
    case DType::int8:
    case DType::uint8:
        return 1;
    case DType::int16:
    case DType::uint16:
    case DType::char16:
    case DType::float16:
        return 2;
    case DType::int32:
    case DType::uint32:
    case DType::float32:
        return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64:
        return 8;
    case DType::decimal128:
    case DType::complex128:
        return 16;
    }
    return 0;
}

enum class Touch : std::uint8_t {
    none,  // nothing is written: no page becomes resident
    page,  // one byte of each page
    full,  // every byte
};

enum class Fill : std::uint8_t { none, zeros, ones, arange };

enum class BinaryFunction : std::uint8_t { add, multiply };

template <>
std::span<const Named<Touch>> names<Touch>();
template <>
std::span<const Named<Fill>> names<Fill>();
template <>
std::span<const Named<BinaryFunction>> names<BinaryFunction>();

enum class Casting : std::uint8_t {
    no,         // the same type
    equiv,      // the same bits with the same meaning: char and uint16
    safe,       // every value survives, as NumPy counts: 64-bit integers to float64 pass
    same_kind,  // safe, or no step back in bool < unsigned < signed < float < complex
    unsafe,     // whatever there is a conversion for
};

template <>
std::span<const Named<Casting>> names<Casting>();

// Empty when there is none.
[[nodiscard]] std::optional<DType> promoted(DType one, DType other);

// Of several types, promotion depends on the order (int16, uint16 and float32 make float32 or float64). As NumPy does,
// fold the types with a fraction first; true for those.
[[nodiscard]] bool is_inexact(DType dtype);

[[nodiscard]] bool can_cast(DType from, DType to, Casting casting);

}  // namespace memsweep::model
