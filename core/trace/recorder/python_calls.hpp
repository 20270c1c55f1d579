// Finds the calls of Python that the calling thread is in, if the process has a CPython of 3.11 to 3.13. It reads the
// interpreter's own frames, as py-spy and the like do from outside.
//
// An evaluation is one run of the interpreter's loop, _PyEval_EvalFrameDefault. It has one frame on the thread's stack,
// for all calls that Python makes of Python. A value that the loop keeps in its frame marks its place on the stack, so
// neither its address nor its name is needed.
//
// A thread reads only data that it alone changes, and it does so between two of its own instructions. So the data are
// whole. The exception is the code of a call that is ending, which is recognised. In a signal's handler the data may be
// half changed, so nothing is read there. A pointer to anything but a code object is not followed.
//
// Not seen  calls before the interpreter is initialised and once it is being finalised; calls beyond the bounds below;
//           in 3.11, calls of other interpreters than the thread's first; and, as in tracebacks, calls that have not
//           begun their first line. Builds without a GIL, and those that trace references, are other versions here.
// Sources   Include/internal/pycore_frame.h and pycore_code.h, Include/cpython/pystate.h, code.h and unicodeobject.h;
//           Objects/locations.md for lines.
// Cost      walk_python(): some 30 ns, 9 ns a call and 10 ns an evaluation (3.11 to 3.13, a busy EPYC under KVM).
//           line_of(): some us.
// Memory    none.
// Threads   any. Not in a handler of signals.
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
    std::uint64_t code{};  // the object's address
    std::uint64_t key{};   // identifies the object and the instruction, because addresses are used again
    std::int32_t unit{};   // the unit of the code that is executed
};

struct Evaluation {
    std::uint64_t marker{};  // an address in the frame of the loop
    std::uint64_t key{};     // of all its calls
    std::uint32_t first{};   // of its calls, innermost first
    std::uint32_t behind{};
    bool is_cut{};  // it has more calls, further out
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

// Call when a loaded object is first met. Returns whether it is a CPython.
bool note_python(const FoundObject& object) noexcept;
// Call when an object that began there has been unloaded.
void forget_python(std::uint64_t begin) noexcept;
// The version as Py_Version has it; 0: there is no interpreter. is_known: its calls can be read.
struct PythonVersion {
    std::uint32_t number{};
    bool is_known{};
};
[[nodiscard]] PythonVersion python_version() noexcept;
// Whether calls can be read.
[[nodiscard]] bool has_python() noexcept;

void walk_python(PythonCalls& calls) noexcept;
// Looks up the line that a call executes. False: the call is over. The texts lie in `room`, cut if it is too small.
[[nodiscard]] bool line_of(const PythonCall& call, std::span<char> room, PythonLine& line) noexcept;

}  // namespace memsweep::trace::recorder
