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

}  // namespace memsweep::model
