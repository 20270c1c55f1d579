#include "core/model/dtype.hpp"

#include <array>

namespace memsweep::model {

template <>
std::span<const Named<DType>> names<DType>()
{
    static constexpr std::array<Named<DType>, 15> table{{
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
    }};
    return table;
}

std::uint64_t size_bytes(DType dtype)
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
