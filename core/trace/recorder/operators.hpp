// C++'s operator new and delete. Where the next definition is libstdc++'s or a program's own, a call goes straight on
// to it: it asks malloc, which is recorded. Allocators bring operators of their own, which do not: those are recorded
// here, as what libstdc++ would have asked malloc for, so that a program's counts do not depend on its allocator.
//
// Errors   exceptions of the real operators pass through; this file and allocator_calls.cpp alone are compiled
//          with them. The personality and _Unwind_Resume are libstdc++'s and libgcc's, which are there where
//          something throws.
#pragma once

namespace memsweep::trace::recorder {

// What is opened later serves who opens it: its operators are not those of the program.
void note_objects_at_start() noexcept;

}  // namespace memsweep::trace::recorder
