// The loops that move bytes through memory, and how their bytes are counted.
//
// Units    elements are doubles, 8 bytes; sizes in bytes.
//
// Sources  the kernels and the counting of stream bytes are those of STREAM (McCalpin); bus bytes add the lines that a
//          plain store reads before it writes them.
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
    plain,   // through the caches: a line is read before it is written, unless the kernel reads it anyway
    nt,      // past the caches, whole lines
    opaque,  // an instruction or a library decides, out of sight
};

struct Operands {
    double* a{};
    const double* b{};
    const double* c{};
    std::size_t elements{};
    double scalar{};
};

// Returns the sum of a read; 0 otherwise. Everything is written when it returns.
using Loop = std::uint64_t (*)(const Operands&) noexcept;

// One implementation of a kernel.
struct Form {
    Kernel kernel{};
    Store store{};
    std::string_view level;          // of the processor: scalar, sse2, avx2, avx512, neon; or movdir64b, rep, libc
    std::uint32_t prefetch_bytes{};  // ahead of the reads; 0: left to the hardware
    std::uint32_t pages{1};          // of 4 KiB, walked side by side
    std::uint32_t lines_per_turn{};  // taken from a page before the next one's turn
    bool alternating{};  // each line is stored before the next is loaded; else all lines of a turn are loaded first
    Loop run{};
};

// "avx512 nt, 4 lines of 8 pages", "avx512 plain, prefetch 2048 B": unique among the forms of a kernel.
[[nodiscard]] std::string describe(const Form& form);

// Per element, as a program sees them: STREAM's convention.
struct ElementBytes {
    std::uint32_t payload{};           // moved once: bytes that arrive
    std::uint32_t stream{};            // read and written by the program
    std::optional<std::uint32_t> bus;  // with the lines read for ownership; absent if the store is opaque
};

[[nodiscard]] ElementBytes bytes_per_element(Kernel kernel, Store store) noexcept;

// The arrays that a kernel touches.
[[nodiscard]] bool reads_b(Kernel kernel) noexcept;
[[nodiscard]] bool reads_c(Kernel kernel) noexcept;
[[nodiscard]] bool writes_a(Kernel kernel) noexcept;

// The byte that memset writes for a scalar that is a whole number and not negative.
[[nodiscard]] unsigned char memset_byte(double scalar) noexcept;

}  // namespace memsweep::probe

namespace memsweep::model {
template <>
std::span<const Named<probe::Kernel>> names<probe::Kernel>();
template <>
std::span<const Named<probe::Store>> names<probe::Store>();
}  // namespace memsweep::model

namespace memsweep::probe {

// The forms that this processor can run, level by level: the widest last, and the C library's own after them.
[[nodiscard]] const std::vector<Form>& runnable_forms();

// The widest level's form that walks straight on without prefetching; nullptr if the kernel has no such store.
[[nodiscard]] const Form* simplest_form(Kernel kernel, Store store);

// The candidates of a calibration: the forms of the widest level, and those that belong to no level, such as libc.
[[nodiscard]] std::vector<const Form*> candidates(Kernel kernel);

// The forms that this build has, one table per level of the processor; runnable_forms() chooses among them.
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
