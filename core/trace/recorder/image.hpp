// The recording of one process image: its file, the slots in the file, and the threads that write into the slots.
//
// Errors   none is reported to the program, and errno stays as it was. A recording that cannot go on stops, keeps what
//          it has, and says why in its file (ImageFacts::stopped_errno).
// Sources  MADV_WIPEONFORK (Linux 4.14), fallocate(2).
// Threads  any. Getting a slot takes a lock, with all signals blocked.
#pragma once

#include <cstdint>

#include "core/trace/format/ticks.hpp"
#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/thread_log.hpp"
#include "core/trace/recorder/usable_sizes.hpp"

namespace memsweep::trace::recorder {

// Gives the calling thread a log, and sets `current` to it. In a forked child, the log lies in a file of the child's
// own. If nothing is to be recorded, sets `current` to a log that discards all events.
void attach_thread() noexcept;
[[nodiscard]] bool is_recording() noexcept;
// Whether this process has a recording file.
[[nodiscard]] bool has_recording() noexcept;
// Returns the table of usable sizes of this image. Call only while the image records.
[[nodiscard]] UsableSizes& usable_sizes() noexcept;
// Call as soon as a second thread may run. From then on, every event gets a stamp (its time).
void expect_threads() noexcept;
[[nodiscard]] bool stamps_every_event() noexcept;
// Call in the child of fork(2). A signal handler may interrupt recording code and fork. When the handler returns in the
// child, that code resumes there, but its log is all zeroes: the rest of the interrupted event is discarded, and the
// next event begins a log of the child's own. _Fork(3) and a raw clone(2) do not call this function, so a handler that
// uses them must not return in the child.
void in_forked_child() noexcept;
// Gives the log an empty slot: either another slot, so that memsweep can read the old one, or the same slot, after its
// chunk has been appended to the file. False: the disk is full, or the recording has stopped.
[[nodiscard]] bool flush(ThreadLog& log) noexcept;
void count_lost_event() noexcept;
[[nodiscard]] const Choice& choice() noexcept;
[[nodiscard]] const TickClock& tick_clock() noexcept;
// Call when the process ends by exit(3).
void note_end() noexcept;
// Call when the process ends by _exit(2), also in a signal handler. Unlike note_end(), it does not ask the allocator
// for anything.
void note_quick_end() noexcept;
void note_foreign_malloc() noexcept;
void note_heap_pages(std::uint64_t bytes) noexcept;
// Returns the tree of this process's call stacks and modules. Null: the tree has not been begun.
[[nodiscard]] CallTree* call_tree() noexcept;
// Returns the tree of call_tree(), and begins it if necessary. Null: the tree cannot be made.
[[nodiscard]] CallTree* open_call_tree() noexcept;
// Notes the path of the library whose malloc serves the recorder. `path` must stay valid.
void note_server(const char* path) noexcept;
// Returns the folder in which this process records or counts. Null: nothing is to be recorded. Call after
// attach_thread().
[[nodiscard]] const char* recording_folder() noexcept;

}  // namespace memsweep::trace::recorder
