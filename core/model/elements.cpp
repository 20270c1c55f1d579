#include "core/model/elements.hpp"

namespace memsweep::model {

namespace {

using Kind = DTypeKind;

Kind kind_of(DType dtype)
{
    return dtype_traits[static_cast<std::size_t>(dtype)].kind;
}

DType char_as_number(DType dtype)
{
    return dtype == DType::char16 ? DType::uint16 : dtype;
}

DType signed_of(std::uint64_t bytes)
{
    return bytes <= 1 ? DType::int8 : bytes == 2 ? DType::int16 : bytes == 4 ? DType::int32 : DType::int64;
}

// The smallest float that holds the integers of this size.
DType real_for_integers_of(std::uint64_t bytes)
{
    return bytes == 1 ? DType::float16 : bytes == 2 ? DType::float32 : DType::float64;
}

// `low` is of a lower kind than `high`.
DType promoted_across(DType low, DType high)
{
    const Kind kind = kind_of(low);
    if (kind == Kind::boolean || kind_of(high) == Kind::complex) {
        return high;
    }
    const std::uint64_t bytes = size_bytes(low);
    if (kind_of(high) == Kind::real) {
        const DType enough = real_for_integers_of(bytes);
        return size_bytes(enough) > size_bytes(high) ? enough : high;
    }
    if (bytes < size_bytes(high)) {
        return high;
    }
    return bytes == 8 ? DType::float64 : signed_of(2 * bytes);
}

}  // namespace

std::optional<DType> promoted(DType one, DType other)
{
    if (one == other) {
        return one;
    }
    one = char_as_number(one);
    other = char_as_number(other);
    const Kind kind = kind_of(one);
    const Kind other_kind = kind_of(other);
    if (kind == Kind::opaque || other_kind == Kind::opaque) {
        return std::nullopt;
    }
    if (kind == other_kind) {
        return size_bytes(one) >= size_bytes(other) ? one : other;
    }
    return kind < other_kind ? promoted_across(one, other) : promoted_across(other, one);
}

bool is_inexact(DType dtype)
{
    return kind_of(dtype) == Kind::real || kind_of(dtype) == Kind::complex;
}

bool can_cast(DType from, DType to, Casting casting)
{
    if (from == to) {
        return true;
    }
    from = char_as_number(from);
    to = char_as_number(to);
    if (casting == Casting::no || kind_of(from) == Kind::opaque || kind_of(to) == Kind::opaque) {
        return false;
    }
    if (from == to || casting == Casting::unsafe) {
        return true;
    }
    if (casting == Casting::equiv) {
        return false;
    }
    return promoted(from, to) == to || (casting == Casting::same_kind && kind_of(from) <= kind_of(to));
}

}  // namespace memsweep::model
