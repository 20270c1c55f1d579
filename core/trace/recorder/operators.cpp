#include "core/trace/recorder/operators.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "core/trace/recorder/allocator_calls.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/noted_calls.hpp"
#include "core/trace/recorder/real_calls.hpp"

__asm__(".weak __gxx_personality_v0\n\t.weak _Unwind_Resume\n\t.weak __cxa_begin_catch\n\t.weak _ZSt9terminatev");

namespace {

using namespace memsweep::trace::recorder;

constexpr std::size_t asked(std::size_t bytes, std::size_t alignment) noexcept
{
    const std::size_t some = bytes == 0 ? 1 : bytes;
    if (alignment == 0 || some > SIZE_MAX - alignment) {
        return some;  // so large that no malloc grants it
    }
    return (some + alignment - 1) & ~(alignment - 1);
}

std::size_t alignment_of() noexcept
{
    return 0;
}
std::size_t alignment_of(const void* /*nothrow*/) noexcept
{
    return 0;
}
std::size_t alignment_of(std::size_t alignment, const void* /*nothrow*/ = nullptr) noexcept
{
    return alignment;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own it
constinit std::atomic<std::size_t> objects_at_start{SIZE_MAX};

bool is_library_of_cpp(const char* path) noexcept
{
    const char* const slash = std::strrchr(path, '/');
    const char* const name = slash == nullptr ? path : slash + 1;
    constexpr std::array libraries{"libstdc++.so", "libc++abi.so", "libc++.so"};
    return std::ranges::any_of(libraries,
                               [&](const char* one) { return std::strncmp(name, one, std::strlen(one)) == 0; });
}

struct Definition {
    void* function{};
    bool is_of_cpp_library{};  // it asks malloc, and knows what to do when that refuses
};

// What the dynamic linker would find behind ours: a definition of what was loaded with the program, or, where a program
// of C has opened a library of C++ for itself alone, that of C++'s own library. Others that are opened later serve who
// opened them.
Definition next_definition(const char* name) noexcept
{
    const LoadedObject us = LoadedObject::holding(reinterpret_cast<void*>(&next_definition));
    Definition found;
    bool is_behind_us = false;
    std::size_t passed = 0;
    LoadedObject::visit_all([&](const LoadedObject& object, const char* path) {
        const bool is_of_start = passed++ < objects_at_start.load(std::memory_order_relaxed);
        if (is_behind_us && (is_of_start || is_library_of_cpp(path))) {
            found = {object.definition(name), is_library_of_cpp(path)};
        }
        is_behind_us = is_behind_us || object.is(us);
        return found.function != nullptr;
    });
    return found;
}

// The first operator may be called before anything is recorded.
bool keeps_callers() noexcept
{
    find_real_calls();
    if (current->state == LogState::unset && has_real_calls()) {
        attach_thread();
    }
    return choice().on && choice().callers();
}

template <typename Door, typename Signature>
struct Operator;

template <typename Door, typename Result, typename First, typename... Rest>
struct Operator<Door, Result(First, Rest...)> {
    using Function = Result (*)(First, Rest...);

    static Function as_function(void* address) noexcept
    {
        Function function{};
        std::memcpy(&function, &address, sizeof function);
        return function;
    }

    static Result first(First what, Rest... rest)
    {
        find();
        return goes_to.load(std::memory_order_acquire)(what, rest...);
    }

    static void find() noexcept
    {
        const Definition found = next_definition(Door::name);
        next = as_function(found.function);
        goes_to.store(found.function == nullptr ? from_malloc : way_to(found), std::memory_order_release);
    }

    static Function way_to(const Definition& found) noexcept
    {
        LoadedObject owner = LoadedObject::holding(found.function);
        if (is_allocator_of_cpp(owner)) {
            let_it_call_itself(owner);
            return recorded;
        }
        return found.is_of_cpp_library && keeps_callers() ? in_its_place : next;
    }

    // What calls is told from what the operator returns to: malloc always returns to the operator.
    static Result in_its_place(First what, Rest... rest)
    {
        if constexpr (std::is_void_v<Result>) {
            next(what, rest...);
        } else {
            const std::size_t alignment = alignment_of(rest...);
            const std::size_t bytes = asked(what, alignment);
            void* const block = alignment == 0 ? real.malloc(bytes) : real.aligned_alloc(alignment, bytes);
            if (block == nullptr) [[unlikely]] {
                return next(what, rest...);  // which asks again, so that the refusal is recorded
            }
            return alignment == 0 ? note_allocation<Call::malloc>(block, bytes)
                                  : note_allocation<Call::aligned_alloc>(block, bytes, alignment);
        }
    }

    static Result recorded(First what, Rest... rest)
    {
        if constexpr (std::is_void_v<Result>) {
            if (what != nullptr) {
                record<Call::free>(place(what));
            }
            next(what, rest...);
        } else {
            const std::size_t alignment = alignment_of(rest...);
            const std::size_t bytes = asked(what, alignment);
            RefusedUnlessGiven outcome{bytes};
            void* const block = next(what, rest...);
            outcome.given();
            return alignment == 0 ? note_allocation<Call::malloc>(block, bytes)
                                  : note_allocation<Call::aligned_alloc>(block, bytes, alignment);
        }
    }

    // As libstdc++ does it. Where malloc refuses, the caller's own library knows what is to happen.
    static Result from_malloc(First what, Rest... rest)
    {
        if constexpr (std::is_void_v<Result>) {
            ::free(what);
        } else {
            const std::size_t alignment = alignment_of(rest...);
            const std::size_t bytes = asked(what, alignment);
            void* const block = alignment == 0 ? ::malloc(bytes) : ::aligned_alloc(alignment, bytes);
            return block != nullptr ? block : refused(__builtin_return_address(0), what, rest...);
        }
    }

    static Result refused(const void* caller, First what, Rest... rest)
    {
        void* const theirs = LoadedObject::holding(caller).definition(Door::name);
        if (theirs == nullptr) {
            std::abort();
        }
        return as_function(theirs)(what, rest...);
    }

    static inline constinit Function next{};
    static inline constinit std::atomic<Function> goes_to{first};
};

}  // namespace

namespace memsweep::trace::recorder {

void note_objects_at_start() noexcept
{
    std::size_t objects = 0;
    LoadedObject::visit_all([&](const LoadedObject&, const char*) {
        ++objects;
        return false;
    });
    objects_at_start.store(objects, std::memory_order_relaxed);
}

}  // namespace memsweep::trace::recorder

// NOLINTBEGIN(bugprone-macro-parentheses): types, and lists of parameters
#define MEMSWEEP_OPERATOR(symbol, result, signature, parameters, arguments)                                            \
    namespace {                                                                                                        \
    struct symbol##_door : Operator<symbol##_door, result signature> {                                                 \
        static constexpr const char* name = #symbol;                                                                   \
    };                                                                                                                 \
    }                                                                                                                  \
    extern "C" __attribute__((visibility("default"))) result symbol parameters                                         \
    {                                                                                                                  \
        return symbol##_door::goes_to.load(std::memory_order_acquire) arguments;                                       \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define MEMSWEEP_NEW(symbol) MEMSWEEP_OPERATOR(symbol, void*, (std::size_t), (std::size_t bytes), (bytes))
#define MEMSWEEP_NEW_WITH(symbol, type)                                                                                \
    MEMSWEEP_OPERATOR(symbol, void*, (std::size_t, type), (std::size_t bytes, type how), (bytes, how))
#define MEMSWEEP_NEW_WITH_BOTH(symbol)                                                                                 \
    MEMSWEEP_OPERATOR(symbol, void*, (std::size_t, std::size_t, const void*),                                          \
                      (std::size_t bytes, std::size_t alignment, const void* nothrow), (bytes, alignment, nothrow))
#define MEMSWEEP_DELETE(symbol) MEMSWEEP_OPERATOR(symbol, void, (void*), (void* block), (block))
#define MEMSWEEP_DELETE_WITH(symbol, type)                                                                             \
    MEMSWEEP_OPERATOR(symbol, void, (void*, type), (void* block, type how), (block, how))
#define MEMSWEEP_DELETE_WITH_BOTH(symbol, one, other)                                                                  \
    MEMSWEEP_OPERATOR(symbol, void, (void*, one, other), (void* block, one how, other besides), (block, how, besides))

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): as the compiler names them
MEMSWEEP_NEW(_Znwm)
MEMSWEEP_NEW(_Znam)
MEMSWEEP_NEW_WITH(_ZnwmRKSt9nothrow_t, const void*)
MEMSWEEP_NEW_WITH(_ZnamRKSt9nothrow_t, const void*)
MEMSWEEP_NEW_WITH(_ZnwmSt11align_val_t, std::size_t)
MEMSWEEP_NEW_WITH(_ZnamSt11align_val_t, std::size_t)
MEMSWEEP_NEW_WITH_BOTH(_ZnwmSt11align_val_tRKSt9nothrow_t)
MEMSWEEP_NEW_WITH_BOTH(_ZnamSt11align_val_tRKSt9nothrow_t)
MEMSWEEP_DELETE(_ZdlPv)
MEMSWEEP_DELETE(_ZdaPv)
MEMSWEEP_DELETE_WITH(_ZdlPvm, std::size_t)
MEMSWEEP_DELETE_WITH(_ZdaPvm, std::size_t)
MEMSWEEP_DELETE_WITH(_ZdlPvRKSt9nothrow_t, const void*)
MEMSWEEP_DELETE_WITH(_ZdaPvRKSt9nothrow_t, const void*)
MEMSWEEP_DELETE_WITH(_ZdlPvSt11align_val_t, std::size_t)
MEMSWEEP_DELETE_WITH(_ZdaPvSt11align_val_t, std::size_t)
MEMSWEEP_DELETE_WITH_BOTH(_ZdlPvmSt11align_val_t, std::size_t, std::size_t)
MEMSWEEP_DELETE_WITH_BOTH(_ZdaPvmSt11align_val_t, std::size_t, std::size_t)
MEMSWEEP_DELETE_WITH_BOTH(_ZdlPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)
MEMSWEEP_DELETE_WITH_BOTH(_ZdaPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
