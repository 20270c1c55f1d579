// The loops of the kernels, compiled once for each level of vector instructions (scalar, avx2, avx512, neon).
//
// Each level has one source file, which includes this header and has its own compiler flags. The file defines
// MEMSWEEP_VECTOR_BYTES before the #include. It also defines stream_line() and finish_streams() for its level, in
// namespace memsweep::probe.
//
// Everything here has internal linkage and calls nothing of the standard library. Otherwise an inline function might be
// compiled here with wide instructions. The linker might keep this version of the function, which would then run on
// processors that lack the instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/probe/kernel.hpp"

namespace memsweep::probe {
namespace {

#define MEMSWEEP_INLINE [[gnu::always_inline]] inline

inline constexpr std::size_t line_elements = 8;
inline constexpr std::size_t page_elements = 512;
inline constexpr std::size_t vector_elements = MEMSWEEP_VECTOR_BYTES / sizeof(double);
inline constexpr std::size_t line_vectors = line_elements / vector_elements;

using Vector [[gnu::vector_size(MEMSWEEP_VECTOR_BYTES), gnu::may_alias]] = double;
using Words [[gnu::vector_size(MEMSWEEP_VECTOR_BYTES), gnu::may_alias]] = std::uint64_t;

struct Line {
    Vector part[line_vectors];
};

// Writes a line past the caches. `to` is a multiple of 64. Each level defines this function.
[[maybe_unused]] MEMSWEEP_INLINE void stream_line(double* to, const Line& line);
// Makes all lines that stream_line() wrote visible before any later store. Each level defines this function.
[[maybe_unused]] MEMSWEEP_INLINE void finish_streams();

MEMSWEEP_INLINE Line load_line(const double* from)
{
    Line line;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < line_vectors; ++i) {
        __builtin_memcpy(&line.part[i], from + i * vector_elements, sizeof(Vector));
    }
    return line;
}

template <Store store>
MEMSWEEP_INLINE void store_line(double* to, const Line& line)
{
    if constexpr (store == Store::nt) {
        stream_line(to, line);
    } else {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < line_vectors; ++i) {
            *reinterpret_cast<Vector*>(to + i * vector_elements) = line.part[i];
        }
    }
}

template <Kernel kernel>
MEMSWEEP_INLINE Line computed_line(const Operands& on, std::size_t at)
{
    if constexpr (kernel == Kernel::copy) {
        return load_line(on.b + at);
    }
    Line line{};
#pragma GCC unroll 8
    for (std::size_t i = 0; i < line_vectors; ++i) {
        const std::size_t of_vector = at + i * vector_elements;
        Vector b{};
        Vector c{};
        if constexpr (kernel == Kernel::update) {
            __builtin_memcpy(&b, on.a + of_vector, sizeof(Vector));
            line.part[i] = b + on.scalar;
        } else if constexpr (kernel == Kernel::write) {
            line.part[i] = b + on.scalar;
        } else {
            __builtin_memcpy(&b, on.b + of_vector, sizeof(Vector));
            if constexpr (kernel == Kernel::scale) {
                line.part[i] = on.scalar * b;
            } else {
                __builtin_memcpy(&c, on.c + of_vector, sizeof(Vector));
                line.part[i] = kernel == Kernel::add ? b + c : b + on.scalar * c;
            }
        }
    }
    return line;
}

template <Kernel kernel>
MEMSWEEP_INLINE void compute_element(const Operands& on, std::size_t at)
{
    if constexpr (kernel == Kernel::copy) {
        on.a[at] = on.b[at];
    } else if constexpr (kernel == Kernel::write) {
        on.a[at] = on.scalar;
    } else if constexpr (kernel == Kernel::update) {
        on.a[at] = on.a[at] + on.scalar;
    } else if constexpr (kernel == Kernel::scale) {
        on.a[at] = on.scalar * on.b[at];
    } else {
        on.a[at] = kernel == Kernel::add ? on.b[at] + on.c[at] : on.b[at] + on.scalar * on.c[at];
    }
}

// The order in which a loop visits lines. The members are explained at Form.
struct Walk {
    std::uint32_t prefetch_bytes{}, pages{1}, lines{};
    bool alternating{};
    bool only_reads{};  // this walk is for Kernel::read alone
};

template <Kernel kernel, std::uint32_t prefetch_bytes>
MEMSWEEP_INLINE void prefetch_line(const Operands& on, std::size_t at)
{
    if constexpr (prefetch_bytes != 0 && kernel != Kernel::write) {
        const std::size_t ahead = at + prefetch_bytes / sizeof(double);
        __builtin_prefetch(kernel == Kernel::update ? on.a + ahead : on.b + ahead);
        if constexpr (kernel == Kernel::add || kernel == Kernel::triad) {
            __builtin_prefetch(on.c + ahead);
        }
    }
}

// The number of elements before the first whole line of `array`, at most `elements`.
MEMSWEEP_INLINE std::size_t head_elements(const double* array, std::size_t elements)
{
    const std::size_t into_line = reinterpret_cast<std::uintptr_t>(array) % 64 / sizeof(double);
    const std::size_t head = (line_elements - into_line) % line_elements;
    return head < elements ? head : elements;
}

// Calls turn(i) for each run of `walk.lines` lines, where `i` is the first element of the run. If `walk.pages` is above
// 1, runs are taken from `walk.pages` pages in turn. The last elements may be too few for a run. Returns the index of
// the first of these, or `elements` if there are none.
template <Walk walk, typename Turn>
MEMSWEEP_INLINE std::size_t by_turns(std::size_t start, std::size_t elements, Turn turn)
{
    constexpr std::size_t run_elements = walk.lines * line_elements;
    std::size_t i = start;
    if constexpr (walk.pages > 1) {
        for (; i + walk.pages * page_elements <= elements; i += walk.pages * page_elements) {
            for (std::size_t k = 0; k < page_elements; k += run_elements) {
#pragma GCC unroll 8
                for (std::size_t page = 0; page < walk.pages; ++page) {
                    turn(i + page * page_elements + k);
                }
            }
        }
    }
    for (; i + run_elements <= elements; i += run_elements) {
        turn(i);
    }
    return i;
}

template <Kernel kernel, Store store, Walk walk>
std::uint64_t run_kernel(const Operands& given) noexcept
{
    const Operands on = given;
    const std::size_t head = head_elements(on.a, on.elements);
    for (std::size_t i = 0; i < head; ++i) {
        compute_element<kernel>(on, i);
    }
    const std::size_t done = by_turns<walk>(head, on.elements, [&on](std::size_t at) {
        Line computed[walk.lines];
#pragma GCC unroll 8
        for (std::size_t line = 0; line < walk.lines; ++line) {
            const std::size_t of_line = at + line * line_elements;
            prefetch_line<kernel, walk.prefetch_bytes>(on, of_line);
            computed[line] = computed_line<kernel>(on, of_line);
            if constexpr (walk.alternating) {
                store_line<store>(on.a + of_line, computed[line]);
            }
        }
        if constexpr (!walk.alternating) {
#pragma GCC unroll 8
            for (std::size_t line = 0; line < walk.lines; ++line) {
                store_line<store>(on.a + at + line * line_elements, computed[line]);
            }
        }
    });
    for (std::size_t i = done; i < on.elements; ++i) {
        compute_element<kernel>(on, i);
    }
    if constexpr (store == Store::nt) {
        finish_streams();
    }
    return 0;
}

MEMSWEEP_INLINE std::uint64_t word_at(const double* from, std::size_t at)
{
    std::uint64_t word{};
    __builtin_memcpy(&word, from + at, sizeof word);
    return word;
}

template <Walk walk>
std::uint64_t run_read(const Operands& given) noexcept
{
    const Operands on = given;
    std::uint64_t sum = 0;
    const std::size_t head = head_elements(on.b, on.elements);
    for (std::size_t i = 0; i < head; ++i) {
        sum += word_at(on.b, i);
    }
    Words sums[walk.lines][line_vectors]{};
    const std::size_t done = by_turns<walk>(head, on.elements, [&](std::size_t at) {
#pragma GCC unroll 8
        for (std::size_t line = 0; line < walk.lines; ++line) {
            prefetch_line<Kernel::read, walk.prefetch_bytes>(on, at + line * line_elements);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < line_vectors; ++i) {
                Words words;
                __builtin_memcpy(&words, on.b + at + line * line_elements + i * vector_elements, sizeof words);
                sums[line][i] += words;
            }
        }
    });
    for (std::size_t i = done; i < on.elements; ++i) {
        sum += word_at(on.b, i);
    }
    for (const auto& line : sums) {
        for (const Words& words : line) {
            for (std::size_t i = 0; i < vector_elements; ++i) {
                sum += words[i];
            }
        }
    }
    return sum;
}

// The walks that calibrate() tries: straight through memory, without or with software prefetching, and over several
// pages in turn. docs/probe.md says why the differences matter. Measured gains:
// - Xeon (Granite Rapids), copy over 8 pages: alternating loads and stores are 1 to 2 % faster.
// - The same Xeon, one line at a time with a prefetch: reads are 2 to 4 % and updates 10 % faster than with any other
//   walk.
// - EPYC 9005, reads by one thread: 6 to 12 % faster over four pages in turn than straight through memory. Reads
//   therefore also try 2 and 4 pages, one line at a time, with and without a prefetch.
inline constexpr std::uint32_t lines_at_once = line_vectors <= 2 ? 4 : 2;
inline constexpr Walk walks[]{{0, 1, lines_at_once},
                              {0, 1, 1},
                              {1024, 1, lines_at_once},
                              {1024, 1, 1},
                              {2048, 1, lines_at_once},
                              {2048, 1, 1},
                              {4096, 1, lines_at_once},
                              {4096, 1, 1},
                              {0, 4, lines_at_once},
                              {0, 8, 1},
                              {0, 8, lines_at_once},
                              {0, 4, lines_at_once, true},
                              {0, 8, lines_at_once, true},
                              {0, 2, 1, false, true},
                              {0, 2, lines_at_once, false, true},
                              {0, 4, 1, false, true},
                              {1024, 2, 1, false, true},
                              {1024, 4, 1, false, true}};
inline constexpr std::size_t walk_count = sizeof walks / sizeof walks[0];
inline constexpr Kernel kernels[]{Kernel::read, Kernel::write, Kernel::copy,  Kernel::scale,
                                  Kernel::add,  Kernel::triad, Kernel::update};
inline constexpr std::size_t kernel_count = sizeof kernels / sizeof kernels[0];

// Whether the kernel is to have a loop for this walk. A walk that only_reads is for Kernel::read alone. Prefetching
// needs loads, and alternating needs loads and stores: a kernel without these would get the same loop as from another
// walk.
constexpr bool suits(Kernel kernel, const Walk& walk)
{
    const bool loads = kernel != Kernel::write;
    const bool stores = kernel != Kernel::read;
    return (loads || walk.prefetch_bytes == 0) && ((loads && stores) || !walk.alternating) &&
           (kernel == Kernel::read || !walk.only_reads);
}

constexpr std::size_t form_count(bool streams)
{
    std::size_t count = 0;
    for (const Kernel kernel : kernels) {
        for (const Walk& walk : walks) {
            count += !suits(kernel, walk) ? 0U : kernel != Kernel::read && streams ? 2U : 1U;
        }
    }
    return count;
}

// The forms of a level: one for each kernel, each walk that suits the kernel, and each kind of store. `streams`: the
// level has streaming (non-temporal) stores as well as plain ones.
template <bool streams>
struct LevelForms {
    static constexpr std::size_t count = form_count(streams);
    Form forms[count]{};
    std::size_t added{};

    template <Kernel kernel, Store store, std::size_t walk>
    constexpr void add(std::string_view level)
    {
        constexpr Walk chosen = walks[walk];
        Form& form = forms[added++];
        form = {kernel, store, level, chosen.prefetch_bytes, chosen.pages, chosen.lines, chosen.alternating, nullptr};
        if constexpr (kernel == Kernel::read) {
            form.run = run_read<chosen>;
        } else {
            form.run = run_kernel<kernel, store, chosen>;
        }
    }

    template <std::size_t kernel = 0, std::size_t walk = 0>
    constexpr void add_all(std::string_view level)
    {
        constexpr Kernel which = kernels[kernel];
        if constexpr (suits(which, walks[walk])) {
            add<which, which == Kernel::read ? Store::none : Store::plain, walk>(level);
            if constexpr (streams && which != Kernel::read) {
                add<which, Store::nt, walk>(level);
            }
        }
        if constexpr (walk + 1 < walk_count) {
            add_all<kernel, walk + 1>(level);
        } else if constexpr (kernel + 1 < kernel_count) {
            add_all<kernel + 1, 0>(level);
        }
    }

    explicit constexpr LevelForms(std::string_view level) { add_all(level); }
};

}  // namespace
}  // namespace memsweep::probe
