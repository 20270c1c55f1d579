#include "core/array/cast_table.hpp"

#include "core/array/cast_loops.hpp"
#include "core/base/assert.hpp"
#ifdef MEMSWEEP_X86_64
#include <cpuid.h>
#endif

namespace memsweep::array {
namespace {

struct Runnable {
    std::array<const CastTable*, 4> tables{};
    std::size_t count{};

    void add(const CastTable& table) { tables[count++] = &table; }
};

#ifdef MEMSWEEP_X86_64
// Asked of the processor itself: Clang 16 does not know the name. That the system saves the registers, avx2 says.
bool has_f16c()
{
    unsigned int a{}, b{}, c{}, d{};
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

Runnable find_runnable()
{
    Runnable found;
    found.add(cast_table_baseline);
#ifdef MEMSWEEP_X86_64
    if (__builtin_cpu_supports("avx2") && has_f16c()) {
        found.add(cast_table_avx2);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
            found.add(cast_table_avx512);
            // From which size on it pays is known for these only: element_mover.hpp.
            if (__builtin_cpu_is("intel") || __builtin_cpu_is("amd")) {
                found.add(cast_table_avx512_streaming);
            }
        }
    }
#endif
    return found;
}

const Runnable& runnable()
{
    static const Runnable found = find_runnable();
    return found;
}

}  // namespace

const CastTable cast_table_baseline{"baseline", AllTypes::all<PlainLoop>()};

const CastTable& cast_table() noexcept
{
    return *runnable().tables[runnable().count - 1];
}

std::span<const CastTable* const> runnable_cast_tables() noexcept
{
    return {runnable().tables.data(), runnable().count};
}

Element element_of(model::DType dtype) noexcept
{
    using model::DType;
    switch (dtype) {
    case DType::boolean:
        return Element::boolean;
    case DType::int8:
        return Element::i8;
    case DType::uint8:
        return Element::u8;
    case DType::int16:
        return Element::i16;
    case DType::uint16:
    case DType::char16:
        return Element::u16;
    case DType::int32:
        return Element::i32;
    case DType::uint32:
        return Element::u32;
    case DType::int64:
        return Element::i64;
    case DType::uint64:
        return Element::u64;
    case DType::float16:
        return Element::half;
    case DType::float32:
        return Element::single;
    case DType::float64:
        return Element::real;
    case DType::complex128:
        return Element::complex;
    case DType::decimal128:
        break;
    }
    MEMSWEEP_ASSERT(false, "decimal has no conversions");
    return Element::boolean;
}

}  // namespace memsweep::array
