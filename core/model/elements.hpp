// Elements of arrays: their types, their initial values, how much of an array is written, and computations.
//
// The types have NumPy's names. NumPy lacks two of them: char16 and decimal128.
// Sources  NumPy's type promotion for arrays (NEP 50: by type alone, never by value) and its five casting rules. char16
//          counts as uint16, except that two char16 give char16. decimal128 is 16 opaque bytes and converts to no other
//          type.
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
    char16,
    float16,
    float32,
    float64,
    decimal128,
    complex128
};

template <>
inline constexpr auto name_table<DType> = std::to_array<Named<DType>>({
    {DType::boolean, "bool", "1 byte, 0 or 1"},
    {DType::int8, "int8", "1 byte, signed"},
    {DType::uint8, "uint8", "1 byte, unsigned"},
    {DType::int16, "int16", "2 bytes, signed"},
    {DType::uint16, "uint16", "2 bytes, unsigned"},
    {DType::int32, "int32", "4 bytes, signed"},
    {DType::uint32, "uint32", "4 bytes, unsigned"},
    {DType::int64, "int64", "8 bytes, signed"},
    {DType::uint64, "uint64", "8 bytes, unsigned"},
    {DType::char16, "char", "2 bytes, a UTF-16 code unit"},
    {DType::float16, "float16", "2 bytes, IEEE half"},
    {DType::float32, "float32", "4 bytes, IEEE single"},
    {DType::float64, "float64", "8 bytes, IEEE double"},
    {DType::decimal128, "decimal", "16 opaque bytes"},
    {DType::complex128, "complex128", "16 bytes, two doubles"},
});

// In ascending order of NumPy's same_kind rule, which allows casts within a kind and to later kinds, except `opaque`.
enum class DTypeKind : std::uint8_t { boolean, unsigned_integer, signed_integer, real, complex, opaque };

struct DTypeTraits {
    std::uint64_t bytes{};
    DTypeKind kind{};
};

inline constexpr auto dtype_traits = std::to_array<DTypeTraits>({
    {1, DTypeKind::boolean},           // boolean
    {1, DTypeKind::signed_integer},    // int8
    {1, DTypeKind::unsigned_integer},  // uint8
    {2, DTypeKind::signed_integer},    // int16
    {2, DTypeKind::unsigned_integer},  // uint16
    {4, DTypeKind::signed_integer},    // int32
    {4, DTypeKind::unsigned_integer},  // uint32
    {8, DTypeKind::signed_integer},    // int64
    {8, DTypeKind::unsigned_integer},  // uint64
    {2, DTypeKind::unsigned_integer},  // char16
    {2, DTypeKind::real},              // float16
    {4, DTypeKind::real},              // float32
    {8, DTypeKind::real},              // float64
    {16, DTypeKind::opaque},           // decimal128
    {16, DTypeKind::complex},          // complex128
});
static_assert(dtype_traits.size() == name_table<DType>.size());

[[nodiscard]] constexpr std::uint64_t size_bytes(DType dtype)
{
    return dtype_traits[static_cast<std::size_t>(dtype)].bytes;
}

enum class Touch : std::uint8_t { none, page, full };

template <>
inline constexpr auto name_table<Touch> = std::to_array<Named<Touch>>({
    {Touch::none, "none", "nothing is written, so no page becomes resident"},
    {Touch::page, "page", "one byte of each page is written"},
    {Touch::full, "full", "every byte is written"},
});

enum class Fill : std::uint8_t { none, zeros, ones, arange };

template <>
inline constexpr auto name_table<Fill> = std::to_array<Named<Fill>>({
    {Fill::none, "none", "contents left as the allocator gives them"},
    {Fill::zeros, "zeros", "zeros; untouched where the allocator can promise them (calloc)"},
    {Fill::ones, "ones", "every element 1; needs touch full"},
    {Fill::arange, "arange", "element i is i; needs touch full"},
});

enum class BinaryFunction : std::uint8_t { add, multiply };

template <>
inline constexpr auto name_table<BinaryFunction> = std::to_array<Named<BinaryFunction>>({
    {BinaryFunction::add, "add", "element-wise sum"},
    {BinaryFunction::multiply, "multiply", "element-wise product"},
});

enum class Casting : std::uint8_t { no, equiv, safe, same_kind, unsafe };

template <>
inline constexpr auto name_table<Casting> = std::to_array<Named<Casting>>({
    {Casting::no, "no", "only the same type"},
    {Casting::equiv, "equiv", "only types of the same bits and meaning"},
    {Casting::safe, "safe", "only where every value survives"},
    {Casting::same_kind, "same_kind", "safe casts, and those within a kind such as float64 to float32"},
    {Casting::unsafe, "unsafe", "any conversion that exists"},
});

// The common type of two types; empty if there is none.
[[nodiscard]] std::optional<DType> promoted(DType one, DType other);

// Whether a type is inexact (floating-point, real or complex). The result of promoting several types one after another
// depends on their order: int16, uint16 and float32 give float32 or float64. To get NumPy's result, promote the inexact
// types first.
[[nodiscard]] bool is_inexact(DType dtype);

[[nodiscard]] bool can_cast(DType from, DType to, Casting casting);

}  // namespace memsweep::model
