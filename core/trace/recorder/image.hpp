// The recording of one process image: its file, the slots in it, and the threads that write there.
//
// Errors   none is reported to the program: a recording that cannot go on stops, keeps what it has, and says why in
//          its file (ImageFacts::stopped_errno). errno is left as it was.
// Sources  MADV_WIPEONFORK (Linux 4.14), fallocate(2).
// Threads  any. Setting up a slot takes a lock with all signals blocked.
#pragma once

#include <cstdint>

#include "core/trace/format/ticks.hpp"
#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/thread_log.hpp"
#include "core/trace/recorder/usable_sizes.hpp"

namespace memsweep::trace::recorder {

// Gives the calling thread a log and sets `current` to it. In a child that the program forked, the log is in a file of
// the child's own. If nothing is to be recorded, `current` discards all events.
void attach_thread() noexcept;
[[nodiscard]] bool is_recording() noexcept;
// Whether this process has a file that it records to.
[[nodiscard]] bool has_recording() noexcept;
// The usable sizes of this image. Call only while it records.
[[nodiscard]] UsableSizes& usable_sizes() noexcept;
// Call when several threads may run: from then on every event is stamped.
void expect_threads() noexcept;
[[nodiscard]] bool stamps_every_event() noexcept;
// Call in the child of fork(2). If a signal handler forked while its thread was recording, the child returns into that
// code with a zeroed log. What that code goes on to write goes nowhere, and the child begins a log of its own. A child
// of _Fork(3) or a raw clone(2) must not return into such code.
void in_forked_child() noexcept;
// Gives the log an empty slot to go on in: another slot, so that the old one can be read, or the same one after its
// chunk was appended to the file. False: there is no room on the disk.
[[nodiscard]] bool flush(ThreadLog& log) noexcept;
void count_lost_event() noexcept;
[[nodiscard]] const Choice& choice() noexcept;
[[nodiscard]] const TickClock& tick_clock() noexcept;
// Call when the process ends by exit(3).
void note_end() noexcept;
// The same for _exit(2), also in a signal's handler: asks the allocator nothing.
void note_quick_end() noexcept;
void note_foreign_malloc() noexcept;
void note_heap_pages(std::uint64_t bytes) noexcept;
// The tree of this process's callers; null: it has not begun.
[[nodiscard]] CallTree* call_tree() noexcept;
// Begins that tree. Null: it cannot be made.
[[nodiscard]] CallTree* open_call_tree() noexcept;
// Notes the file that malloc comes from. `path` must stay valid.
void note_server(const char* path) noexcept;
// The folder in which this process records or counts; null: nothing is to be recorded. Call once a thread is attached.
[[nodiscard]] const char* recording_folder() noexcept;

}  // namespace memsweep::trace::recorder
