// Calls of allocation functions as tracers print them, "malloc(16) = 0x4A46040", and what they did.
//
// Cost     one look at a table of some forty names for each call.
// Memory   none: texts are those of the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/trace/event.hpp"

namespace memsweep::trace {

// How the arguments and the result of an allocation function tell what it did. `untold`: it allocates, or frees, and
// its line does not say what: posix_memalign returns its block through memory that no tracer prints, strdup asks for a
// size that it does not print.
enum class CallShape : std::uint8_t {
    malloc,        // (size)
    calloc,        // (count, size)
    realloc,       // (old, size)
    reallocarray,  // (old, count, size)
    memalign,      // (alignment, size)
    aligned_new,   // (size, alignment)
    free,          // (block)
    untold,
};

// A function by the name that a tracer prints: "malloc", "_ZnwmSt11align_val_t", "operator new[](unsigned long)",
// "mi_malloc", "malloc@libc.so.6". Empty where it is no allocation function.
[[nodiscard]] std::optional<CallShape> shape_of(std::string_view name);

// Whether a C++ function, which may be left by an exception instead of returning.
[[nodiscard]] bool may_throw(std::string_view name);

struct TracedCall {
    std::string_view name;  // as printed, with the types of its parameters where it is a demangled one
    std::string_view rest;  // behind the parenthesis that opens the arguments
};

// The call that a text begins with; empty where it begins with none.
[[nodiscard]] std::optional<TracedCall> call_at(std::string_view text);

// Fills in kind, addresses, size and alignment from "16) = 0x4A46040" behind the opening parenthesis; false where that
// cannot be read. A call that returned nothing is a failed_alloc.
[[nodiscard]] bool read_call(Event& event, CallShape shape, std::string_view rest);

}  // namespace memsweep::trace
