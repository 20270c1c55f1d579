// The layout of the file into which a recorder writes. Each process image (a start, a fork or an exec) has a file
// <process>.<number>.mst in the folder of the recording. The process maps this file. The file is not a trace itself:
// `memsweep record` makes a trace from it, while the process runs and after it has ended.
//
//   0       FileHeader, as in a trace
//   64      ChunkHeader of kind `slots`, which spans all slots
//   128     ImageFacts
//   4096    slots. Each running thread writes a chunk into one of them. If its slot is full, the thread writes on in a
//           free slot. `memsweep record` copies the full chunk to the trace, then makes the full slot free again.
//   then    appended chunks of kind `words`. If no slot is free, a thread appends its full chunk here and writes on in
//           the same slot. A chunk that has filled its slot is padded to a multiple of the slot's size.
//
// As soon as an event is recorded, it is in the file. So if a process is killed at any instruction, each thread loses
// at most the event that it was writing. The payload of a chunk is words (event_words.hpp), each written by one store.
// Its first Slot::used bytes are events or zeroes. For a short time, a chunk may be in the file twice, or both in the
// file and in the trace. The copies have the same sequence number, and readers count only one of them.
//
// If the file of an image cannot be made, a symbolic link <process>.<number>.refused takes its place, and the target of
// the link is the errno. A link needs no descriptor and, on most file systems, no disk block. Some processes can make
// neither the file nor the link, for example after setuid(2) or chroot(2). For such a process, memsweep makes the file
// (lent_file.hpp). If memsweep cannot do so either, the process adds an entry to the file "starts" (start_layout.hpp).
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
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
inline constexpr std::uint32_t max_slots = 4096;  // 256 MiB of addresses; only pages that were written take memory
inline constexpr std::uint32_t fewest_slots = 16;
// The smallest limit on the size of a file (RLIMIT_FSIZE) with which a process can be recorded.
inline constexpr std::uint64_t least_reach_bytes = slots_offset + std::uint64_t{fewest_slots} * slot_bytes;
inline constexpr std::uint64_t least_room_bytes = slots_offset + slot_bytes;

struct ImageFacts {
    std::uint32_t version{recording_version};
    std::uint32_t process{};
    std::uint32_t parent{};
    std::uint32_t slots{};              // how many slots the file has
    std::uint64_t start_ticks{};        // when the image began, by the clock of the stamps
    std::uint64_t start_nanoseconds{};  // CLOCK_MONOTONIC when the image began
    std::uint64_t start_unix_ns{};
    std::uint64_t append_at{};       // the offset at which the next chunk is appended
    std::uint64_t lost_events{};     // events for which no slot was free, or that came after recording stopped
    std::uint32_t stopped_errno{};   // why recording stopped before the process ended, such as ENOSPC; 0: no stop
    std::uint32_t foreign_malloc{};  // 1: the program has its own malloc, so its calls are not recorded
    std::uint32_t slots_used{};      // slots with this number or a larger one have never been used
    std::uint32_t pid_namespace{};   // pid namespace of the process: inode of /proc/self/ns/pid; 0: not known
    char program[64]{};  // file name of the executable, cut if too long, padded with zeroes; empty: not known
    std::uint64_t heap_pages_bytes{};  // result of heap_pages_bytes() (heap_pages.hpp) at exit(3); 0: not known
    std::uint64_t end_ticks{};         // when the image ended, which may be long after the last stamp; 0: not known
    std::uint32_t home_namespace{};    // pid namespace of the memsweep that records; 0: not known
    std::uint32_t stacks_errno{};      // why requested call stacks are missing; 0: none are
    char served_by[256]{};             // end of the path of malloc's library, padded with zeroes; empty: not known
    std::uint64_t seen_end_ticks{};    // when memsweep saw that the process had closed the file; 0: not yet
};
static_assert(sizeof(ImageFacts) == 424 && std::is_trivially_copyable_v<ImageFacts>);
inline constexpr std::uint32_t facts_offset = 128;

// Returns the number that a process has in a trace. `process` is its pid in the image's pid namespace. Two namespaces
// may use the same pids (pid_namespaces(7)). So if this namespace is not memsweep's own, a multiple of ten million is
// added to the pid; which multiple depends on the namespace. The last seven digits of the sum are still the pid.
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

// The recorder changes `free` to `writing`, and `writing` to `full`. If the recorder appends the chunk and writes on in
// the slot, the slot stays `writing`. `memsweep record` changes `full` to `free`.
enum class SlotState : std::uint32_t { free = 0, writing = 1, full = 2 };

// The beginning of a slot. The payload follows it.
struct Slot {
    SlotState state{};
    std::uint32_t used{};  // the first `used` bytes of the payload are events or zeroes
    std::uint32_t reserved[14]{};
    ChunkHeader chunk;  // valid members: process, thread, sequence, first_ticks; in an appended chunk: all
};
static_assert(sizeof(Slot) == 128 && std::is_trivially_copyable_v<Slot>);
inline constexpr std::uint32_t slot_payload_bytes = slot_bytes - static_cast<std::uint32_t>(sizeof(Slot));

// The environment variables by which memsweep configures the recorder. The second one has options, separated by commas:
// count, stacks[=BYTES], give-back, min-size=N, sample=N, only-child-of=PROCESS, only-chosen, namespace=INODE.
inline constexpr const char* recording_folder_variable = "MEMSWEEP_RECORD";
inline constexpr const char* recording_options_variable = "MEMSWEEP_RECORD_OPTIONS";

// A file in the folder of the recording, from which recorders learn, without a system call, that time has passed.
// memsweep makes this file before the program starts. While memsweep records, it changes the file's first word
// (std::uint32_t) every tick_milliseconds. Every recorder maps the file.
inline constexpr const char* clock_name = "clock";
inline constexpr std::uint32_t clock_bytes = 4096;
inline constexpr std::uint32_t tick_milliseconds = 5;

// With the option only-chosen, a process is recorded only if the file <folder>/<process>.0.chosen exists.
inline constexpr const char* chosen_ending = ".chosen";

}  // namespace memsweep::trace
