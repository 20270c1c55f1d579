// The loops that move and convert contiguous elements, compiled for several levels of a processor, and the choice
// between them at run time: one binary serves every machine of its architecture.
//
// Units    elements of a cast, bytes of a copy; no pointer need be aligned. Input and output do not overlap.
// Cost     a cast runs at the bandwidth of memory, except halves without F16C and doubles to 64-bit integers below
//          AVX-512.
// Sources  values as NumPy's on x86. Integers wrap. A float beyond int32 becomes int32's lowest value, whose low bits a
//          type of 8 or 16 bits takes. Floats become int64, and uint32 through int64, by the same rule; they become
//          uint64 as GCC compiles it. Halves round to nearest even; NaNs keep their payload and become quiet. Values
//          are the same at every level and on every architecture.
// Threads  immutable.
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

// One index for all types that convert alike: bool is a uint8 that holds 0 or 1, except as a target; char16 is a
// uint16.
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
    // The same loops with streaming stores, which bypass the caches and do not read the lines that they overwrite (see
    // streaming.hpp). Null where the level has none. Call finish_streams after the last one of a series, before other
    // threads read.
    CastLoops streamed_casts{};
    CopyLoop streamed_copy{};
    void (*finish_streams)() noexcept {};

    [[nodiscard]] bool streams() const noexcept { return streamed_copy != nullptr; }
};

// The best table that this processor runs.
[[nodiscard]] const CastTable& cast_table() noexcept;

// All tables that this processor runs, the plainest first.
[[nodiscard]] std::span<const CastTable* const> runnable_cast_tables() noexcept;

// decimal has no conversions and no index.
[[nodiscard]] Element element_of(model::DType dtype) noexcept;

// The tables that this build has, one per level of the processor. Only cast_table() and runnable_cast_tables() choose
// among them: a loop of a level that the processor lacks stops the process.
extern const CastTable cast_table_baseline;
#ifdef MEMSWEEP_X86_64
extern const CastTable cast_table_avx2;
extern const CastTable cast_table_avx512;
extern const CastTable cast_table_avx512_streaming;
#endif

}  // namespace memsweep::array
