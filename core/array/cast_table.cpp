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
            found.add(cast_table_avx512_streaming);
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
    using enum Element;
    constexpr std::array elements{boolean, i8,  u8,   i16,    u16,  i32,     u32,    i64,
                                  u64,     u16, half, single, real, boolean, complex};  // in the order of DType
    static_assert(elements.size() == static_cast<std::size_t>(model::DType::complex128) + 1);
    MEMSWEEP_ASSERT(dtype != model::DType::decimal128, "decimal has no conversions");
    return elements[static_cast<std::size_t>(dtype)];
}

}  // namespace memsweep::array
