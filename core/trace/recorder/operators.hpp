// Replaces C++'s operators new and delete. The recorder passes a call on to the operator that the program would use
// without the recorder. If that operator is libstdc++'s or the program's own, it calls malloc, and the call of malloc
// is recorded. An operator that an allocator defines does not call malloc. So calls of such an operator are recorded
// here, as the call of malloc that libstdc++ would have made. A program's counts thus do not depend on its allocator.
// If callers are recorded too, the recorder calls malloc itself instead of libstdc++'s operator new. Otherwise, this
// operator would be recorded as the caller.
//
// Errors   exceptions of the real operators pass through. Only operators.cpp and allocator_calls.cpp are compiled
//          with exceptions. They use the personality routine and _Unwind_Resume of libstdc++ and libgcc. In a process
//          that throws, these two libraries are loaded.
#pragma once

namespace memsweep::trace::recorder {

// Notes how many objects are loaded. Call this when the program starts. If a library is opened later, its operators are
// ignored, because they serve only the code that opens the library.
void note_objects_at_start() noexcept;

}  // namespace memsweep::trace::recorder
