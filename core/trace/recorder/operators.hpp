// Replaces C++'s operators new and delete. The recorder passes a call on to the operator that the program would use
// without the recorder. If that operator is libstdc++'s or the program's own, it calls malloc, and the call of malloc
// is recorded. An allocator's own operator does not call malloc, so its calls are recorded here, as the request that
// libstdc++ would have made of malloc. So a program's counts do not depend on its allocator. If callers are recorded
// too, the recorder calls malloc itself instead of libstdc++'s operator new.
//
// Errors   exceptions of the real operators pass through. Only this file and allocator_calls.cpp are compiled with
//          exceptions. They use the personality routine and _Unwind_Resume of libstdc++ and libgcc. In a process that
//          throws, these are loaded.
#pragma once

namespace memsweep::trace::recorder {

// Call when the program starts. Operators of a library that is opened later are not the program's, and are passed over:
// they serve only the code that opens the library.
void note_objects_at_start() noexcept;

}  // namespace memsweep::trace::recorder
