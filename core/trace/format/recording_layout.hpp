// The layout of a recorder's file while its process runs. Each process image (a start, a fork or an exec) has a file of
// its own, <process>.<number>.mst in the folder of the recording. The process maps it. It is no trace: `memsweep
// record` makes a trace of it, while the process runs and when it has ended.
//
//   0       FileHeader, of a trace
//   64      ChunkHeader of kind `slots`: it spans all slots
//   128     ImageFacts
//   4096    slots: each thread that runs writes into one; when that is full it goes on in another that is free, and
//           `memsweep record` frees the full one once the chunk stands in the trace
//   then    full chunks (kind `words`) that found no free slot to go on in, appended in the order they became full; one
//           that filled its slot spans up to a multiple of the slot's size
//
// At any instant a slot holds all that its thread has recorded in it. So a process may die at any instruction, and
// loses at most the event that it was writing. The payload is words (event_words.hpp), each written by one store. Up to
// `used` they are events or zeroes. A chunk may stand both in its slot and at the end of the file, or in the trace.
// Both have the same number, and it counts once.
//
// If an image's file cannot be made, a symbolic link <process>.<number>.refused stands in its place. Its target is the
// errno. A link needs no descriptor and, on most file systems, no block of the disk.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace {

inline constexpr const char* recording_ending = ".mst";
inline constexpr const char* refusal_ending = ".refused";
inline constexpr std::uint32_t recording_version = 5;
inline constexpr std::uint32_t slots_offset = 4096;
inline constexpr std::uint32_t slot_bytes = 64U << 10U;
inline constexpr std::uint32_t max_slots = 4096;  // 256 MiB of addresses, of which a thread touches what it writes
inline constexpr std::uint32_t fewest_slots = 16;
// The smallest file in which a process can be recorded. So much of the disk is reserved.
inline constexpr std::uint64_t least_reach_bytes = slots_offset + std::uint64_t{fewest_slots} * slot_bytes;
inline constexpr std::uint64_t least_room_bytes = slots_offset + slot_bytes;

struct ImageFacts {
    std::uint32_t version{recording_version};
    std::uint32_t process{};
    std::uint32_t parent{};
    std::uint32_t slots{};              // that the file has room for
    std::uint64_t start_ticks{};        // by the clock behind the stamps
    std::uint64_t start_nanoseconds{};  // CLOCK_MONOTONIC, read together with start_ticks
    std::uint64_t start_unix_ns{};
    std::uint64_t append_at{};         // the place for the next chunk that finds no slot
    std::uint64_t lost_events{};       // events that found no slot, or came after recording stopped
    std::uint32_t stopped_errno{};     // why recording stopped before the process ended: ENOSPC, ...; 0: it did not
    std::uint32_t foreign_malloc{};    // 1: the program brings its own malloc, so its calls are not seen
    std::uint32_t slots_used{};        // slots from this one on have never been used
    std::uint32_t pid_namespace{};     // the process's: inode of /proc/self/ns/pid; 0: not known
    char program[64]{};                // the last part of the executable's path, cut, and zeroes; empty: not known
    std::uint64_t heap_pages_bytes{};  // bytes of the heap at exit(3) that can only be blocks; 0: not known
    std::uint64_t end_ticks{};         // when it ended; 0: not known. A thread that records little has older stamps
    std::uint32_t home_namespace{};    // the recording memsweep's; 0: not known
    std::uint32_t stacks_errno{};      // why call stacks that were asked for are not there; 0: they are
    char served_by[256]{};  // the end of the path of the file that malloc comes from, and zeroes; empty: not known
    std::uint64_t seen_end_ticks{};  // when memsweep saw the file closed; 0: it did not, or the process still runs
};
static_assert(sizeof(ImageFacts) == 424 && std::is_trivially_copyable_v<ImageFacts>);
inline constexpr std::uint32_t facts_offset = 128;

// The number that a trace gives to a process of the image's pid namespace. Two namespaces may have the same numbers
// (pid_namespaces(7)). So processes of another namespace than memsweep's get numbers beyond all of memsweep's own. They
// are ten millions apart, so the last seven digits are the process's own.
[[nodiscard]] constexpr std::uint32_t number_in_trace(const ImageFacts& image, std::uint32_t process) noexcept
{
    constexpr std::uint32_t step = 10'000'000;  // PID_MAX_LIMIT is 4,194,304
    constexpr std::uint32_t steps = 427;
    static_assert(std::uint64_t{step} * steps + step / 2 <= UINT32_MAX);
    const bool is_home =
        image.pid_namespace == 0 || image.home_namespace == 0 || image.pid_namespace == image.home_namespace;
    return is_home ? process : process + step * (1 + image.pid_namespace % steps);
}
[[nodiscard]] constexpr std::uint32_t number_in_trace(const ImageFacts& image) noexcept
{
    return number_in_trace(image, image.process);
}

// The recorder turns a free slot into a writing one, and that into a full one; or it appends the chunk and writes on.
// The reader of the recording turns a full slot into a free one.
enum class SlotState : std::uint32_t { free = 0, writing = 1, full = 2 };

// The payload follows.
struct Slot {
    SlotState state{};
    std::uint32_t used{};  // bytes of the payload that are events or zeroes
    std::uint32_t reserved[14]{};
    ChunkHeader chunk;  // process, thread, sequence and first_ticks are valid; the rest only if it is appended
};
static_assert(sizeof(Slot) == 128 && std::is_trivially_copyable_v<Slot>);
inline constexpr std::uint32_t slot_payload_bytes = slot_bytes - static_cast<std::uint32_t>(sizeof(Slot));

// The variables by which memsweep tells the library its orders. The options, with commas between them: count,
// stacks[=BYTES], give-back, min-size=N, sample=N, only-child-of=PROCESS, only-chosen, namespace=INODE.
inline constexpr const char* recording_folder_variable = "MEMSWEEP_RECORD";
inline constexpr const char* recording_options_variable = "MEMSWEEP_RECORD_OPTIONS";

// A file of the folder that memsweep makes before the program starts, and whose first word (std::uint32_t) it changes
// every tick_milliseconds while it records. Every recorder maps it.
inline constexpr const char* clock_name = "clock";
inline constexpr std::uint32_t clock_bytes = 4096;
inline constexpr std::uint32_t tick_milliseconds = 5;

// With only-chosen, <folder>/<process>.0<ending> is there for the process that is recorded.
inline constexpr const char* chosen_ending = ".chosen";

}  // namespace memsweep::trace
