// Replaces C++'s operators new and delete. If the definition behind the recorder's is libstdc++'s or the program's own,
// a call is passed on to it, and the malloc that it calls is recorded. An allocator's own operators do not call malloc.
// Their calls are recorded here, as the request that libstdc++ would have made of malloc. So a program's counts do not
// depend on its allocator. If callers are recorded too, the recorder calls malloc itself in the place of libstdc++'s
// operator new.
//
// Errors   exceptions of the real operators pass through. Only this file and allocator_calls.cpp are compiled with
//          exceptions. They use the personality routine and _Unwind_Resume of libstdc++ and libgcc. In a process that
//          throws, these are loaded.
#pragma once

namespace memsweep::trace::recorder {

// Call when the program starts. Operators of a library that is opened later are not the program's, and are passed over:
// they serve only whoever opens the library.
void note_objects_at_start() noexcept;

}  // namespace memsweep::trace::recorder
