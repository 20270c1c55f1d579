#include "core/trace/recorder/allocator_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/noted_calls.hpp"
#include "core/trace/recorder/real_calls.hpp"

// mi_new and tc_new throw. The last two are Clang's, for what leaves a noexcept function.
__asm__(".weak __gxx_personality_v0\n\t.weak _Unwind_Resume\n\t.weak __cxa_begin_catch\n\t.weak _ZSt9terminatev");

namespace memsweep::trace::recorder {
namespace {

using Size = std::size_t;

struct Asked {
    Size bytes{};
    Size alignment{};
    bool is_zeroed{};
};

Size times(Size count, Size bytes) noexcept
{
    Size all = 0;
    return __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all;
}

Size page() noexcept
{
    return static_cast<Size>(::sysconf(_SC_PAGESIZE));
}

Size whole_pages(Size bytes) noexcept
{
    return (bytes + page() - 1) / page() * page();
}

Size text_bytes(const char* text) noexcept
{
    return text == nullptr ? 0 : std::strlen(text) + 1;
}

Size text_bytes(const char* text, Size most) noexcept
{
    return text == nullptr ? 0 : ::strnlen(text, most) + 1;
}

// MALLOCX_LG_ALIGN and MALLOCX_ZERO.
Asked with_flags(Size bytes, int flags) noexcept
{
    const auto lg_alignment = static_cast<unsigned>(flags) & 63U;
    return {bytes, lg_alignment == 0 ? 0 : Size{1} << lg_alignment, (flags & 0x40) != 0};
}

template <typename Function>
bool find(Function& into, const char* name) noexcept
{
    if (into == nullptr) {
        void* const found = LoadedObject::first_definition(name);
        std::memcpy(&into, &found, sizeof found);
    }
    return into != nullptr;
}

// Inline, as the next, so that what calls is what the function returns to that the program has called.
__attribute__((always_inline)) inline void* given(void* block, const Asked& asked) noexcept
{
    if (asked.alignment != 0) {
        return note_allocation<Call::aligned_alloc>(block, asked.bytes, asked.alignment);
    }
    return asked.is_zeroed ? note_allocation<Call::calloc>(block, asked.bytes)
                           : note_allocation<Call::malloc>(block, asked.bytes);
}

void taken(const void* block) noexcept
{
    if (block != nullptr) {
        record<Call::free>(place(block));
    }
}

// Records the new size of a block that stays where it is.
__attribute__((always_inline)) inline void resized(void* block, Size bytes) noexcept
{
    prepare_realloc(block);
    record<Call::realloc>(place(block), bytes, place(block));
}

// NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters and of arguments
#define MEMSWEEP_GIVES(name, parameters, arguments, ...)                                                               \
    struct name##_call {                                                                                               \
        static inline void*(*real)parameters = nullptr;                                                                \
        static void* seen parameters                                                                                   \
        {                                                                                                              \
            const Asked asked{__VA_ARGS__};                                                                            \
            RefusedUnlessGiven outcome{asked.bytes};                                                                   \
            void* const block = real arguments;                                                                        \
            outcome.given();                                                                                           \
            return given(block, asked);                                                                                \
        }                                                                                                              \
    };
#define MEMSWEEP_MOVES(name, parameters, arguments, asked)                                                             \
    struct name##_call {                                                                                               \
        static inline void*(*real)parameters = nullptr;                                                                \
        static void* seen parameters                                                                                   \
        {                                                                                                              \
            const Size all = asked;                                                                                    \
            prepare_realloc(block);                                                                                    \
            void* const moved = real arguments;                                                                        \
            if (moved == nullptr && (all != 0 || block == nullptr)) {                                                  \
                record_failed_realloc(block, all);                                                                     \
            } else {                                                                                                   \
                record<Call::realloc>(place(moved), moved != nullptr ? all : 0, place(block));                         \
            }                                                                                                          \
            return moved;                                                                                              \
        }                                                                                                              \
    };
#define MEMSWEEP_TAKES(name, parameters, arguments)                                                                    \
    struct name##_call {                                                                                               \
        static inline void(*real) parameters = nullptr;                                                                \
        static void seen parameters                                                                                    \
        {                                                                                                              \
            taken(block);                                                                                              \
            real arguments;                                                                                            \
        }                                                                                                              \
    };
#define MEMSWEEP_FILLS(name)                                                                                           \
    struct name##_call {                                                                                               \
        static inline int (*real)(void**, Size, Size) = nullptr;                                                       \
        static int seen(void** into, Size alignment, Size bytes)                                                       \
        {                                                                                                              \
            const int problem = real(into, alignment, bytes);                                                          \
            if (problem != EINVAL) {                                                                                   \
                given(problem == 0 ? *into : nullptr, {bytes, alignment});                                             \
            }                                                                                                          \
            return problem;                                                                                            \
        }                                                                                                              \
    };

// NOLINTEND(bugprone-macro-parentheses)

// Other names of the C library's, and those of C23, where an allocator has them.
#define MEMSWEEP_CALLS_OF_C(GIVES, MOVES, TAKES, FILLS, OWN)                                                           \
    GIVES(__libc_malloc, (Size bytes), (bytes), bytes)                                                                 \
    GIVES(__libc_calloc, (Size count, Size bytes), (count, bytes), times(count, bytes), 0, true)                       \
    GIVES(__libc_memalign, (Size alignment, Size bytes), (alignment, bytes), bytes, alignment)                         \
    GIVES(__libc_valloc, (Size bytes), (bytes), bytes, page())                                                         \
    GIVES(__libc_pvalloc, (Size bytes), (bytes), whole_pages(bytes), page())                                           \
    FILLS(__posix_memalign)                                                                                            \
    MOVES(__libc_realloc, (void* block, Size bytes), (block, bytes), bytes)                                            \
    TAKES(__libc_free, (void* block), (block))                                                                         \
    TAKES(cfree, (void* block), (block))                                                                               \
    TAKES(free_sized, (void* block, Size bytes), (block, bytes))                                                       \
    TAKES(free_aligned_sized, (void* block, Size alignment, Size bytes), (block, alignment, bytes))

#define MEMSWEEP_CALLS_OF_JEMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)                                                    \
    GIVES(mallocx, (Size bytes, int flags), (bytes, flags), with_flags(bytes, flags))                                  \
    MOVES(rallocx, (void* block, Size bytes, int flags), (block, bytes, flags), bytes)                                 \
    OWN(xallocx)                                                                                                       \
    TAKES(dallocx, (void* block, int flags), (block, flags))                                                           \
    TAKES(sdallocx, (void* block, Size bytes, int flags), (block, bytes, flags))

#define MEMSWEEP_CALLS_OF_MIMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)                                                    \
    GIVES(mi_malloc, (Size bytes), (bytes), bytes)                                                                     \
    GIVES(mi_malloc_small, (Size bytes), (bytes), bytes)                                                               \
    GIVES(mi_mallocn, (Size count, Size bytes), (count, bytes), times(count, bytes))                                   \
    GIVES(mi_zalloc, (Size bytes), (bytes), bytes, 0, true)                                                            \
    GIVES(mi_zalloc_small, (Size bytes), (bytes), bytes, 0, true)                                                      \
    GIVES(mi_calloc, (Size count, Size bytes), (count, bytes), times(count, bytes), 0, true)                           \
    GIVES(mi_strdup, (const char* text), (text), text_bytes(text))                                                     \
    GIVES(mi_strndup, (const char* text, Size most), (text, most), text_bytes(text, most))                             \
    GIVES(mi_valloc, (Size bytes), (bytes), bytes, page())                                                             \
    GIVES(mi_pvalloc, (Size bytes), (bytes), whole_pages(bytes), page())                                               \
    GIVES(mi_memalign, (Size alignment, Size bytes), (alignment, bytes), bytes, alignment)                             \
    GIVES(mi_aligned_alloc, (Size alignment, Size bytes), (alignment, bytes), bytes, alignment)                        \
    GIVES(mi_malloc_aligned, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                       \
    GIVES(mi_malloc_aligned_at, (Size bytes, Size alignment, Size at), (bytes, alignment, at), bytes, alignment)       \
    GIVES(mi_zalloc_aligned, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                       \
    GIVES(mi_zalloc_aligned_at, (Size bytes, Size alignment, Size at), (bytes, alignment, at), bytes, alignment)       \
    GIVES(mi_calloc_aligned, (Size count, Size bytes, Size alignment), (count, bytes, alignment), times(count, bytes), \
          alignment)                                                                                                   \
    GIVES(mi_calloc_aligned_at, (Size count, Size bytes, Size alignment, Size at), (count, bytes, alignment, at),      \
          times(count, bytes), alignment)                                                                              \
    GIVES(mi_new, (Size bytes), (bytes), bytes)                                                                        \
    GIVES(mi_new_n, (Size count, Size bytes), (count, bytes), times(count, bytes))                                     \
    GIVES(mi_new_nothrow, (Size bytes), (bytes), bytes)                                                                \
    GIVES(mi_new_aligned, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                          \
    GIVES(mi_new_aligned_nothrow, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                  \
    GIVES(mi_heap_malloc, (void* heap, Size bytes), (heap, bytes), bytes)                                              \
    GIVES(mi_heap_malloc_small, (void* heap, Size bytes), (heap, bytes), bytes)                                        \
    GIVES(mi_heap_mallocn, (void* heap, Size count, Size bytes), (heap, count, bytes), times(count, bytes))            \
    GIVES(mi_heap_zalloc, (void* heap, Size bytes), (heap, bytes), bytes, 0, true)                                     \
    GIVES(mi_heap_calloc, (void* heap, Size count, Size bytes), (heap, count, bytes), times(count, bytes), 0, true)    \
    GIVES(mi_heap_strdup, (void* heap, const char* text), (heap, text), text_bytes(text))                              \
    GIVES(mi_heap_strndup, (void* heap, const char* text, Size most), (heap, text, most), text_bytes(text, most))      \
    GIVES(mi_heap_malloc_aligned, (void* heap, Size bytes, Size alignment), (heap, bytes, alignment), bytes,           \
          alignment)                                                                                                   \
    GIVES(mi_heap_malloc_aligned_at, (void* heap, Size bytes, Size alignment, Size at), (heap, bytes, alignment, at),  \
          bytes, alignment)                                                                                            \
    GIVES(mi_heap_zalloc_aligned, (void* heap, Size bytes, Size alignment), (heap, bytes, alignment), bytes,           \
          alignment)                                                                                                   \
    GIVES(mi_heap_zalloc_aligned_at, (void* heap, Size bytes, Size alignment, Size at), (heap, bytes, alignment, at),  \
          bytes, alignment)                                                                                            \
    GIVES(mi_heap_calloc_aligned, (void* heap, Size count, Size bytes, Size alignment),                                \
          (heap, count, bytes, alignment), times(count, bytes), alignment)                                             \
    GIVES(mi_heap_calloc_aligned_at, (void* heap, Size count, Size bytes, Size alignment, Size at),                    \
          (heap, count, bytes, alignment, at), times(count, bytes), alignment)                                         \
    GIVES(mi_heap_alloc_new, (void* heap, Size bytes), (heap, bytes), bytes)                                           \
    GIVES(mi_heap_alloc_new_n, (void* heap, Size count, Size bytes), (heap, count, bytes), times(count, bytes))        \
    FILLS(mi_posix_memalign)                                                                                           \
    MOVES(mi_realloc, (void* block, Size bytes), (block, bytes), bytes)                                                \
    MOVES(mi_reallocn, (void* block, Size count, Size bytes), (block, count, bytes), times(count, bytes))              \
    MOVES(mi_reallocarray, (void* block, Size count, Size bytes), (block, count, bytes), times(count, bytes))          \
    MOVES(mi_reallocf, (void* block, Size bytes), (block, bytes), bytes)                                               \
    MOVES(mi_rezalloc, (void* block, Size bytes), (block, bytes), bytes)                                               \
    MOVES(mi_recalloc, (void* block, Size count, Size bytes), (block, count, bytes), times(count, bytes))              \
    MOVES(mi_realloc_aligned, (void* block, Size bytes, Size alignment), (block, bytes, alignment), bytes)             \
    MOVES(mi_realloc_aligned_at, (void* block, Size bytes, Size alignment, Size at), (block, bytes, alignment, at),    \
          bytes)                                                                                                       \
    MOVES(mi_rezalloc_aligned, (void* block, Size bytes, Size alignment), (block, bytes, alignment), bytes)            \
    MOVES(mi_recalloc_aligned, (void* block, Size count, Size bytes, Size alignment),                                  \
          (block, count, bytes, alignment), times(count, bytes))                                                       \
    MOVES(mi_new_realloc, (void* block, Size bytes), (block, bytes), bytes)                                            \
    MOVES(mi_new_reallocn, (void* block, Size count, Size bytes), (block, count, bytes), times(count, bytes))          \
    MOVES(mi_heap_realloc, (void* heap, void* block, Size bytes), (heap, block, bytes), bytes)                         \
    MOVES(mi_heap_reallocn, (void* heap, void* block, Size count, Size bytes), (heap, block, count, bytes),            \
          times(count, bytes))                                                                                         \
    MOVES(mi_heap_reallocf, (void* heap, void* block, Size bytes), (heap, block, bytes), bytes)                        \
    MOVES(mi_heap_rezalloc, (void* heap, void* block, Size bytes), (heap, block, bytes), bytes)                        \
    MOVES(mi_heap_recalloc, (void* heap, void* block, Size count, Size bytes), (heap, block, count, bytes),            \
          times(count, bytes))                                                                                         \
    MOVES(mi_heap_realloc_aligned, (void* heap, void* block, Size bytes, Size alignment),                              \
          (heap, block, bytes, alignment), bytes)                                                                      \
    OWN(mi_expand)                                                                                                     \
    OWN(mi_heap_destroy)                                                                                               \
    TAKES(mi_free, (void* block), (block))                                                                             \
    TAKES(mi_cfree, (void* block), (block))                                                                            \
    TAKES(mi_free_size, (void* block, Size bytes), (block, bytes))                                                     \
    TAKES(mi_free_size_aligned, (void* block, Size bytes, Size alignment), (block, bytes, alignment))                  \
    TAKES(mi_free_aligned, (void* block, Size alignment), (block, alignment))

#define MEMSWEEP_CALLS_OF_TCMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)                                                    \
    GIVES(tc_malloc, (Size bytes), (bytes), bytes)                                                                     \
    GIVES(tc_malloc_skip_new_handler, (Size bytes), (bytes), bytes)                                                    \
    GIVES(tc_calloc, (Size count, Size bytes), (count, bytes), times(count, bytes), 0, true)                           \
    GIVES(tc_memalign, (Size alignment, Size bytes), (alignment, bytes), bytes, alignment)                             \
    GIVES(tc_valloc, (Size bytes), (bytes), bytes, page())                                                             \
    GIVES(tc_pvalloc, (Size bytes), (bytes), whole_pages(bytes), page())                                               \
    GIVES(tc_new, (Size bytes), (bytes), bytes)                                                                        \
    GIVES(tc_newarray, (Size bytes), (bytes), bytes)                                                                   \
    GIVES(tc_new_nothrow, (Size bytes, const void* nothrow), (bytes, nothrow), bytes)                                  \
    GIVES(tc_newarray_nothrow, (Size bytes, const void* nothrow), (bytes, nothrow), bytes)                             \
    GIVES(tc_new_aligned, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                          \
    GIVES(tc_newarray_aligned, (Size bytes, Size alignment), (bytes, alignment), bytes, alignment)                     \
    GIVES(tc_new_aligned_nothrow, (Size bytes, Size alignment, const void* nothrow), (bytes, alignment, nothrow),      \
          bytes, alignment)                                                                                            \
    GIVES(tc_newarray_aligned_nothrow, (Size bytes, Size alignment, const void* nothrow), (bytes, alignment, nothrow), \
          bytes, alignment)                                                                                            \
    FILLS(tc_posix_memalign)                                                                                           \
    MOVES(tc_realloc, (void* block, Size bytes), (block, bytes), bytes)                                                \
    TAKES(tc_free, (void* block), (block))                                                                             \
    TAKES(tc_cfree, (void* block), (block))                                                                            \
    TAKES(tc_free_sized, (void* block, Size bytes), (block, bytes))                                                    \
    TAKES(tc_delete, (void* block), (block))                                                                           \
    TAKES(tc_deletearray, (void* block), (block))                                                                      \
    TAKES(tc_delete_sized, (void* block, Size bytes), (block, bytes))                                                  \
    TAKES(tc_deletearray_sized, (void* block, Size bytes), (block, bytes))                                             \
    TAKES(tc_delete_nothrow, (void* block, const void* nothrow), (block, nothrow))                                     \
    TAKES(tc_deletearray_nothrow, (void* block, const void* nothrow), (block, nothrow))                                \
    TAKES(tc_delete_aligned, (void* block, Size alignment), (block, alignment))                                        \
    TAKES(tc_deletearray_aligned, (void* block, Size alignment), (block, alignment))                                   \
    TAKES(tc_delete_sized_aligned, (void* block, Size bytes, Size alignment), (block, bytes, alignment))               \
    TAKES(tc_deletearray_sized_aligned, (void* block, Size bytes, Size alignment), (block, bytes, alignment))          \
    TAKES(tc_delete_aligned_nothrow, (void* block, Size alignment, const void* nothrow), (block, alignment, nothrow))  \
    TAKES(tc_deletearray_aligned_nothrow, (void* block, Size alignment, const void* nothrow),                          \
          (block, alignment, nothrow))

#define MEMSWEEP_ALL_CALLS(GIVES, MOVES, TAKES, FILLS, OWN)                                                            \
    MEMSWEEP_CALLS_OF_C(GIVES, MOVES, TAKES, FILLS, OWN)                                                               \
    MEMSWEEP_CALLS_OF_JEMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)                                                        \
    MEMSWEEP_CALLS_OF_MIMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)                                                        \
    MEMSWEEP_CALLS_OF_TCMALLOC(GIVES, MOVES, TAKES, FILLS, OWN)

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the allocators' names; lists of parameters
struct xallocx_call {
    static inline Size (*real)(void*, Size, Size, int) = nullptr;
    static Size seen(void* block, Size bytes, Size extra, int flags)
    {
        const Size usable = real(block, bytes, extra, flags);
        if (usable >= bytes) {
            resized(block, bytes);
        }
        return usable;
    }
};

struct mi_expand_call {
    static inline void* (*real)(void*, Size) = nullptr;
    static void* seen(void* block, Size bytes)
    {
        void* const same = real(block, bytes);
        if (same != nullptr) {
            resized(block, bytes);
        }
        return same;
    }
};

// Frees what is in the heap.
struct mi_heap_destroy_call {
    using Visitor = bool (*)(const void* heap, const void* area, void* block, Size bytes, void* argument);
    static inline void (*real)(void*) = nullptr;
    static inline bool (*visit)(const void* heap, bool blocks, Visitor visitor, void* argument) = nullptr;
    static void seen(void* heap)
    {
        if (find(visit, "mi_heap_visit_blocks")) {
            visit(
                heap, true,
                [](const void*, const void*, void* block, Size, void*) {
                    taken(block);
                    return true;
                },
                nullptr);
        }
        real(heap);
    }
};

#define MEMSWEEP_NO_MORE(name)
MEMSWEEP_ALL_CALLS(MEMSWEEP_GIVES, MEMSWEEP_MOVES, MEMSWEEP_TAKES, MEMSWEEP_FILLS, MEMSWEEP_NO_MORE)

// At a glance: there are thousands of names, and hardly ever one of these.
bool may_be_ours(const char* name) noexcept
{
    const auto begins = [&](const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; };
    switch (name[0]) {
    case '_':
        return begins("__libc_mem") || begins("__libc_mal") || begins("__libc_cal") || begins("__libc_rea") ||
               begins("__libc_fre") || begins("__libc_va") || begins("__libc_pv") || begins("__posix_m");
    case 'm':
        return begins("mi_") || begins("mallocx");
    case 't':
        return begins("tc_");
    case 'f':
        return begins("free_");
    case 'c':
        return begins("cfree");
    case 'r':
    case 'x':
    case 'd':
        return begins("rallocx") || begins("xallocx") || begins("dallocx");
    default:
        return begins("sdallocx");
    }
}

// Null: it is none of them.
void* ours_for(const char* name) noexcept
{
#define MEMSWEEP_IS(symbol, ...)                                                                                       \
    if (std::strcmp(name, #symbol) == 0) {                                                                             \
        return find(symbol##_call::real, name) ? reinterpret_cast<void*>(&symbol##_call::seen) : nullptr;              \
    }
    MEMSWEEP_ALL_CALLS(MEMSWEEP_IS, MEMSWEEP_IS, MEMSWEEP_IS, MEMSWEEP_IS, MEMSWEEP_IS)
    return nullptr;
}
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

// What one of these stands in is an allocator, or a wrapper of one: its calls of another are not the program's.
constexpr std::array marks{"malloc", "mallocx", "mi_malloc", "tc_malloc"};

// Those of them that an allocator may call behind another.
constexpr std::array calls_of_c{"malloc",         "free",          "calloc",   "realloc", "reallocarray",
                                "posix_memalign", "aligned_alloc", "memalign", "valloc",  "pvalloc"};

bool is_allocation_call(const char* name) noexcept
{
    constexpr std::array operators{"_Znw", "_Zna", "_Zdl", "_Zda"};
    return std::ranges::any_of(calls_of_c, [&](const char* call) { return std::strcmp(call, name) == 0; }) ||
           std::ranges::any_of(operators, [&](const char* call) { return std::strncmp(call, name, 4) == 0; });
}

}  // namespace

bool is_allocator_of_cpp(const LoadedObject& object) noexcept
{
    return object.defines("malloc") && object.defines("_Znwm");
}

void let_it_call_itself(LoadedObject& object) noexcept
{
    const LoadedObject us = LoadedObject::holding(reinterpret_cast<void*>(&let_it_call_itself));
    if (us.is(object)) {
        return;
    }
    object.for_each_reference([&](const char* name, const void* now) -> void* {
        if (!is_allocation_call(name) || !us.contains(LoadedObject::first_definition(name))) {
            return nullptr;
        }
        void* const next = us.definition_behind(name);
        return next == now ? nullptr : next;
    });
}

void redirect_allocator_calls() noexcept
{
    LoadedObject::visit_all([](LoadedObject object, const char*) {
        if (is_allocator_of_cpp(object)) {
            let_it_call_itself(object);
        } else if (object.refers_to(may_be_ours) &&
                   std::ranges::none_of(marks, [&](const char* mark) { return object.defines(mark); })) {
            object.for_each_reference(
                [](const char* name, const void* now) { return now == nullptr ? nullptr : ours_for(name); });
        }
        return false;
    });
}

}  // namespace memsweep::trace::recorder
