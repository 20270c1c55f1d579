// Kernels are loops that move bytes through memory. This file lists them, and says how many bytes each one moves.
//
// Units    elements are doubles, 8 bytes; sizes are in bytes.
//
// Sources  copy, scale, add, triad and the way of counting stream bytes come from STREAM (McCalpin). Bus bytes also
//          count the cache lines that a plain store reads before it writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/names.hpp"

#ifdef __x86_64__
#define MEMSWEEP_X86_64
#endif

namespace memsweep::probe {

enum class Kernel : std::uint8_t {
    read,    // sum of b's words, modulo 2^64
    write,   // a = scalar
    copy,    // a = b
    scale,   // a = scalar * b
    add,     // a = b + c
    triad,   // a = b + scalar * c
    update,  // a = a + scalar
    memset,  // every byte of a = memset_byte(scalar), by the C library
    memcpy,  // a = b, by the C library
};

enum class Store : std::uint8_t {
    none,
    plain,   // through the caches: the processor first reads each line that the kernel has not read itself
    nt,      // non-temporal: whole lines, past the caches
    opaque,  // unknown: decided by a library, or by the microcode of an instruction
};

struct Operands {
    double* a{};
    const double* b{};
    const double* c{};
    std::size_t elements{};
    double scalar{};
};

// Runs a kernel once. Returns the sum for Kernel::read, 0 for all other kernels. All its stores are complete when it
// returns.
using Loop = std::uint64_t (*)(const Operands&) noexcept;

// One implementation of a kernel.
struct Form {
    Kernel kernel{};
    Store store{};
    std::string_view level;  // scalar, avx2, avx512, neon: vector level; movdir64b, rep: instruction; libc: C library
    std::uint32_t prefetch_bytes{};  // how far ahead of its reads the loop prefetches; 0: only the hardware prefetches
    std::uint32_t pages{1};          // above 1: the loop takes lines from this many 4 KiB pages in turn
    std::uint32_t lines_per_turn{};  // how many lines the loop takes from one page before it goes on to the next
    bool alternating{};  // true: stores each line before it loads the next; false: loads all lines of a turn first
    Loop run{};
};

// "avx512 nt, 8 pages side by side, 4 lines each", "avx512 plain, prefetch 2048 B ahead". No two forms of a kernel have
// the same description.
[[nodiscard]] std::string describe(const Form& form);

// The bytes that a kernel moves for each element, counted in three ways.
struct ElementBytes {
    std::uint32_t payload{};           // size of an element, however many arrays are read or written: 8
    std::uint32_t stream{};            // bytes that the program reads plus bytes that it writes, as STREAM counts
    std::optional<std::uint32_t> bus;  // `stream` plus lines that a plain store reads first; absent: Store::opaque
};

[[nodiscard]] ElementBytes bytes_per_element(Kernel kernel, Store store) noexcept;

[[nodiscard]] bool reads_b(Kernel kernel) noexcept;
[[nodiscard]] bool reads_c(Kernel kernel) noexcept;
[[nodiscard]] bool writes_a(Kernel kernel) noexcept;

// The byte that Kernel::memset writes: `scalar` modulo 256. `scalar` is a whole number, not negative.
[[nodiscard]] unsigned char memset_byte(double scalar) noexcept;

}  // namespace memsweep::probe

namespace memsweep::model {
template <>
std::span<const Named<probe::Kernel>> names<probe::Kernel>();
template <>
std::span<const Named<probe::Store>> names<probe::Store>();
}  // namespace memsweep::model

namespace memsweep::probe {

// The forms that this processor can run: those of vector levels, narrowest first, then movdir64b, rep and libc.
[[nodiscard]] const std::vector<Form>& runnable_forms();

// Returns the form of this kernel and store that takes one page after another without prefetching, at the widest level
// of this processor. Returns nullptr if there is none.
[[nodiscard]] const Form* simplest_form(Kernel kernel, Store store);

// The forms that calibrate() (stream.hpp) tries: those of the widest vector level, and movdir64b, rep and libc.
[[nodiscard]] std::vector<const Form*> candidates(Kernel kernel);

// The forms that this build has, a table for each level but `rep` and `libc`. runnable_forms() takes the tables that
// the processor can run.
struct FormTable {
    const Form* forms;
    std::size_t count;
};

extern const FormTable forms_scalar;
#ifdef MEMSWEEP_X86_64
extern const FormTable forms_avx2;
extern const FormTable forms_avx512;
extern const FormTable forms_movdir64b;
#endif
#ifdef __aarch64__
extern const FormTable forms_neon;
#endif

}  // namespace memsweep::probe
