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

[[nodiscard]] std::uint64_t size_bytes(DType dtype);

}  // namespace memsweep::model
