// Element types of arrays, named as NumPy names them, with the two that NumPy lacks (char16, decimal128).
#pragma once

#include <cstdint>

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

}  // namespace memsweep::model
