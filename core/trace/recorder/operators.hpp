// C++'s operator new and delete. If the next definition is libstdc++'s or the program's own, a call goes straight on to
// it: that one calls malloc, which is recorded. Operators that an allocator brings do not call malloc. They are
// recorded here, as the request that libstdc++ would have made of malloc. So a program's counts do not depend on its
// allocator.
//
// Errors   exceptions of the real operators pass through. Only this file and allocator_calls.cpp are compiled with
//          exceptions. They use the personality and _Unwind_Resume of libstdc++ and libgcc, which are there if
//          something throws.
#pragma once

namespace memsweep::trace::recorder {

// A library that is opened later serves only those who open it, so its operators are not the program's.
void note_objects_at_start() noexcept;

}  // namespace memsweep::trace::recorder
