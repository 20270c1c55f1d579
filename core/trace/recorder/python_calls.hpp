// If the process has CPython 3.11 to 3.13, finds the Python calls that the calling thread is executing. Reads the
// interpreter's own frames, as py-spy does from another process.
//
// An evaluation is one run of the interpreter's loop, _PyEval_EvalFrameDefault. It has a single frame on the thread's
// stack, even while Python functions call each other in it. The loop keeps a structure in this frame, so the
// structure's address shows where on the stack the frame is. The address and the name of the loop's code are not
// needed.
//
// A thread reads only data that it alone changes, and never in the middle of a change. So the data are consistent, with
// one exception: the code object of a call that is just ending may be gone. This is recognised, because only pointers
// to live code objects are followed. In a signal handler the data may be half changed, so nothing is read there.
//
// Not seen  calls before the interpreter is initialised and after its finalisation has begun; more calls or evaluations
//           than most_python_calls and most_evaluations; in 3.11, calls in interpreters other than the thread's first;
//           calls that have not begun their first line (tracebacks omit them, too); and calls in builds without a GIL
//           or with traced references, which lay out objects differently.
// Sources   Include/internal/pycore_frame.h and pycore_code.h, Include/cpython/pystate.h, code.h and unicodeobject.h;
//           Objects/locations.md for lines.
// Cost      walk_python(): some 30 ns, plus 9 ns a call and 10 ns an evaluation (3.11 to 3.13, a busy EPYC under KVM).
//           line_of(): some us.
// Memory    none.
// Threads   any, but not in a signal handler.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/trace/recorder/found_object.hpp"

namespace memsweep::trace::recorder {

inline constexpr std::uint32_t most_python_calls = 256;
inline constexpr std::uint32_t most_evaluations = 96;

struct PythonCall {
    std::uint64_t code{};  // the address of its code object
    std::uint64_t key{};   // a hash of what the code object contains and of `unit`; addresses are reused
    std::int32_t unit{};   // the code unit that is executed
};

struct Evaluation {
    std::uint64_t marker{};  // an address in the loop's frame
    std::uint64_t key{};     // a hash of the keys of all its calls
    std::uint32_t first{};   // its calls are calls[first] to calls[behind - 1], innermost first
    std::uint32_t behind{};
    bool is_cut{};  // its outermost calls are missing: PythonCalls::calls was full
};

struct PythonCalls {
    std::uint32_t evaluations_count{};
    std::uint32_t calls_count{};
    std::array<Evaluation, most_evaluations> evaluations;  // innermost first
    std::array<PythonCall, most_python_calls> calls;
};

struct PythonLine {
    std::string_view function;
    std::string_view file;
    std::uint32_t line{};
};

// Call when a loaded program or library is first met. Returns whether it is the process's first CPython.
bool note_python(const FoundObject& object) noexcept;
// Call when the object that began at this address has been unloaded.
void forget_python(std::uint64_t begin) noexcept;
struct PythonVersion {
    std::uint32_t number{};  // in the form of Py_Version; 0: there is no interpreter
    bool is_known{};         // the calls of this version can be read
};
[[nodiscard]] PythonVersion python_version() noexcept;
// Whether the process has an interpreter whose calls can be read.
[[nodiscard]] bool has_python() noexcept;

// Writes to `calls` the Python calls that the calling thread is executing.
void walk_python(PythonCalls& calls) noexcept;
// Looks up the line that a call executes. The line's texts are written to `room`, and cut if they are too long for it.
// False: the call is over.
[[nodiscard]] bool line_of(const PythonCall& call, std::span<char> room, PythonLine& line) noexcept;

}  // namespace memsweep::trace::recorder
