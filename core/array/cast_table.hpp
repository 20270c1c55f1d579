// The loops that move and convert contiguous elements. They are compiled for several levels of the processor, such as
// AVX2 and AVX-512, and one level is chosen at run time. So one binary serves every machine of its architecture.
//
// Units    casts count elements, copies count bytes. Pointers need not be aligned. Input and output must not overlap.
// Cost     a cast runs at memory bandwidth, except for two slower conversions: halves without F16C, and doubles to
//          64-bit integers without AVX-512.
// Sources  at every level, and on every architecture, the results are those that NumPy gives on x86. Integers wrap. A
//          float outside the range of int32 becomes the lowest int32; for an 8-bit or 16-bit target, a float is
//          converted to int32, and the target takes the low bits of the result. Likewise a float outside the range of
//          int64 becomes the lowest int64; for a uint32 target, a float is converted to int64, and the target takes the
//          low bits of the result. A float becomes a uint64 as in code compiled by GCC. Halves round to nearest even;
//          NaNs keep their payload and become quiet.
// Threads  any; the tables never change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/elements.hpp"

#ifdef __x86_64__
#define MEMSWEEP_X86_64
#endif

namespace memsweep::array {

// The kinds of elements for conversions. Types that convert alike share one kind: a char16 counts as a uint16. A
// decimal128 has no kind.
enum class Element : std::uint8_t {
    boolean,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    half,
    single,
    real,
    complex,
};
inline constexpr std::size_t element_kinds = 13;

using CastLoop = void (*)(std::byte* out, const std::byte* in, std::size_t elements) noexcept;
using CopyLoop = void (*)(std::byte* out, const std::byte* in, std::size_t bytes) noexcept;
using CastLoops = std::array<std::array<CastLoop, element_kinds>, element_kinds>;  // [from][to]

struct CastTable {
    const char* level{};
    CastLoops casts{};
    // The same loops with streaming stores, which bypass the caches and do not read the overwritten lines first (see
    // streaming.hpp). Null if the table has no such loops. Call finish_streams after the last loop of
    // a series, before other threads read the output.
    CastLoops streamed_casts{};
    CopyLoop streamed_copy{};
    void (*finish_streams)() noexcept {};

    [[nodiscard]] bool streams() const noexcept { return streamed_copy != nullptr; }
};

// Returns the fastest table that this processor can run.
[[nodiscard]] const CastTable& cast_table() noexcept;

// Returns all tables that this processor can run, the baseline first.
[[nodiscard]] std::span<const CastTable* const> runnable_cast_tables() noexcept;

// Returns the kind of a type. `dtype` must not be decimal128, which has no kind.
[[nodiscard]] Element element_of(model::DType dtype) noexcept;

// The tables in this build, for the levels of the processor. Use them only through cast_table() and
// runnable_cast_tables(): a loop that uses instructions which the processor lacks kills the process (SIGILL).
extern const CastTable cast_table_baseline;
#ifdef MEMSWEEP_X86_64
extern const CastTable cast_table_avx2;
extern const CastTable cast_table_avx512;
extern const CastTable cast_table_avx512_streaming;
#endif

}  // namespace memsweep::array
