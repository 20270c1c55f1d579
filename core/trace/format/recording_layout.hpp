// What a recorder's file looks like while its process runs. Each process image (a start, a fork or an exec) has a file
// of its own, <process>.<number>.mst in the folder of the recording, mapped by the process.
//
//   0       FileHeader, of a trace
//   64      ChunkHeader of kind `slots`, which readers of traces pass over: it spans all slots
//   128     ImageFacts
//   4096    slots: one per thread that is running, with the chunk that the thread is writing
//   then    full chunks as in every trace, appended in the order they became full; one that filled its slot spans up to
//           a multiple of the slot's size
//
// A slot holds at any instant all that its thread has recorded since its last full chunk: the recorder stores `used`
// after each event, so that a process may die at any instruction and loses at most the event it was writing. A chunk
// that stands in its slot and at the end of the file has the same number and counts once.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace {

inline constexpr std::uint32_t recording_version = 1;
inline constexpr std::uint32_t slots_offset = 4096;
inline constexpr std::uint32_t slot_bytes = 64U << 10U;
inline constexpr std::uint32_t max_slots = 4096;  // 256 MiB of addresses, of which a thread touches what it writes

struct ImageFacts {
    std::uint32_t version{recording_version};
    std::uint32_t process{};
    std::uint32_t parent{};
    std::uint32_t slots{};              // that the file has room for
    std::uint64_t start_ticks{};        // of the clock behind the stamps, read together with
    std::uint64_t start_nanoseconds{};  // CLOCK_MONOTONIC
    std::uint64_t start_unix_ns{};
    std::uint64_t append_at{};       // where the next full chunk goes
    std::uint64_t lost_events{};     // that found no slot, or came after recording stopped
    std::uint32_t stopped_errno{};   // why recording stopped before the process ended: ENOSPC, ...; 0: it did not
    std::uint32_t foreign_malloc{};  // 1: the program brings its own malloc, so that its calls do not come by
    std::uint32_t slots_used{};      // slots from this one on have never been used
    std::uint32_t reserved{};
};
static_assert(sizeof(ImageFacts) == 72 && std::is_trivially_copyable_v<ImageFacts>);
inline constexpr std::uint32_t facts_offset = 128;

// The payload follows.
struct Slot {
    std::uint32_t used{};  // bytes of the payload that are whole events
    std::uint32_t reserved[15]{};
    ChunkHeader chunk;  // process, thread, sequence and first_ticks are valid; the rest once it is full
};
static_assert(sizeof(Slot) == 128 && std::is_trivially_copyable_v<Slot>);
inline constexpr std::uint32_t slot_payload_bytes = slot_bytes - static_cast<std::uint32_t>(sizeof(Slot));
// What a recorder writes at most for a stamp, and for a call: a base, three numbers more, and beyond its end.
inline constexpr std::uint32_t max_stamp_bytes = 1 + max_varint_bytes + 8;
inline constexpr std::uint32_t max_call_bytes = 1 + 4 * max_varint_bytes + 8;

// What `memsweep record` tells the library, in the environment.
inline constexpr const char* recording_folder_variable = "MEMSWEEP_RECORD";
inline constexpr const char* recording_options_variable =
    "MEMSWEEP_RECORD_OPTIONS";  // min-size=N,sample=N,only-child-of=PROCESS

}  // namespace memsweep::trace
