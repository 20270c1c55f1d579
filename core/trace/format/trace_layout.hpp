// The bytes of a trace file (.mst, version 1) as docs/trace-format.md describes them: a header, then chunks. Everything
// is little-endian. Raw chunks can be appended from inside a process that is being recorded, by one write each, and are
// compressed afterwards; both kinds may stand in one file.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/trace/format/varint.hpp"

namespace memsweep::trace {

static_assert(std::endian::native == std::endian::little, "structures are written as they stand in memory");

inline constexpr std::array<std::uint8_t, 8> file_magic{0x89, 'M', 'S', 'T', '\r', '\n', 0x1A, '\n'};
inline constexpr std::uint32_t chunk_magic = 0x4B4E434DU;  // "MCNK"
inline constexpr std::uint16_t format_version = 1;
// Of a payload before compression: bounds a reader's memory.
inline constexpr std::uint32_t max_chunk_bytes = 16U << 20U;
inline constexpr unsigned events_per_stamp = 64;

struct FileHeader {
    std::array<std::uint8_t, 8> magic{file_magic};
    std::uint16_t version{format_version};
    std::uint16_t header_bytes{64};
    std::uint32_t flags{};
    std::uint64_t ticks_per_second{};  // of the clock behind all stamps; 0: stamps say nothing about time
    std::uint64_t start_ticks{};       // what the clock showed at start_unix_ns
    std::uint64_t start_unix_ns{};     // 0: not known
    std::uint32_t process{};           // the first one recorded
    std::uint32_t page_bytes{};
    std::array<std::uint32_t, 3> reserved{};
    std::uint32_t header_crc{};  // CRC-32C of the 60 bytes before it
};
static_assert(sizeof(FileHeader) == 64 && std::is_trivially_copyable_v<FileHeader>);

// facts: lines of "name=value" about the recording; slots: where a recorder writes, see below
enum class ChunkKind : std::uint8_t { events = 1, facts = 2, slots = 3 };
enum class Codec : std::uint8_t { raw = 0, zstd = 1 };
// An unsealed chunk was still being written when its process died: its lengths and payload_crc are not filled in, and
// its events end at the first end_of_chunk (a zero byte). A recorder that maps its file leaves such chunks behind.
inline constexpr std::uint8_t chunk_unsealed = 1;

struct ChunkHeader {
    std::uint32_t magic{chunk_magic};
    ChunkKind kind{ChunkKind::events};
    Codec codec{Codec::raw};
    std::uint8_t rotation{4};  // addresses are rotated right by this many bits, so that alignment costs no digits
    std::uint8_t flags{};
    std::uint32_t span_bytes{};    // from this header to the next one
    std::uint32_t stored_bytes{};  // of the payload behind this header
    std::uint32_t raw_bytes{};     // of the payload, decompressed
    std::uint32_t events{};        // 0 in an unsealed chunk
    std::uint32_t process{};
    std::uint32_t thread{};       // chunks of one process and thread are one stream, in the order of the file
    std::uint64_t sequence{};     // 0, 1, 2, ... within the stream: what is missing shows
    std::uint64_t first_ticks{};  // the clock before the first event; stamps within count from here
    std::uint64_t last_ticks{};
    std::uint32_t payload_crc{};  // CRC-32C of the stored payload
    std::uint32_t header_crc{};   // CRC-32C of the 60 bytes before it; of an unsealed chunk too
};
static_assert(sizeof(ChunkHeader) == 64 && std::is_trivially_copyable_v<ChunkHeader>);

// Each event begins with a varint: the low two bits are its Operation, the rest is the zigzagged difference of its
// rotated address to the last one in the chunk; for `other` the rest is an OtherOperation, and its operands follow.
enum class Operation : std::uint8_t { other = 0, free = 1, malloc = 2, realloc = 3 };

enum class OtherOperation : std::uint8_t {
    end_of_chunk = 0,  // first, so that zeroes never look like events
    stamp,             // ticks since the last stamp
    base,              // the rotated address that the next difference counts from
    thread,            // of the events that follow; a chunk begins with its header's
    process,           // likewise
    space,             // likewise; a chunk begins with 0
    stream,            // likewise
    define_space,      // index, SpaceKind, device, length of the name, name
    calloc,            // from here on difference as above, but unshifted; size
    aligned_alloc,     // difference, size, log2 of the alignment
    map,               // difference, size
    unmap,             // difference, size
    thread_start,      // thread
    thread_exit,       //
    fork,              // the child's process
    exec,              //
    process_exit,      //
    label,             // length, text
    copy,              // difference of the destination, its source likewise, size, the source's space
    move,              // likewise
    failed_alloc,      // size
    free_requested,    // difference; the block stays live until its free
    external,          // difference, size: memory that others own comes under this space's account
    external_end,      // difference
};
inline constexpr std::uint64_t other_operations = 24;
inline constexpr std::uint64_t max_difference = 1ULL << 61U;  // zigzagged; beyond it a `base` comes first

[[nodiscard]] constexpr std::uint64_t rotated(std::uint64_t address, unsigned rotation) noexcept
{
    return std::rotr(address, static_cast<int>(rotation));
}

[[nodiscard]] constexpr std::uint64_t unrotated(std::uint64_t value, unsigned rotation) noexcept
{
    return std::rotl(value, static_cast<int>(rotation));
}

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
// Where an image's file cannot be made, a symbolic link stands in its place, <process>.<number>.refused, and what it
// names is the errno. A link needs neither a descriptor nor, on most file systems, a block of the disk.
inline constexpr const char* refusal_ending = ".refused";
inline constexpr std::uint32_t recording_version = 1;
inline constexpr std::uint32_t slots_offset = 4096;
inline constexpr std::uint32_t slot_bytes = 64U << 10U;
inline constexpr std::uint32_t max_slots = 4096;  // 256 MiB of addresses, of which a thread touches what it writes
inline constexpr std::uint32_t fewest_slots = 16;
// What a process can be recorded in at all: the file reaches so far, and has so much of the disk.
inline constexpr std::uint64_t least_reach_bytes = slots_offset + std::uint64_t{fewest_slots} * slot_bytes;
inline constexpr std::uint64_t least_room_bytes = slots_offset + slot_bytes;

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
    char program[64]{};  // the last part of the executable's path, cut, and zeroes; empty: not known
};
static_assert(sizeof(ImageFacts) == 136 && std::is_trivially_copyable_v<ImageFacts>);
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
    "MEMSWEEP_RECORD_OPTIONS";  // count, min-size=N,sample=N,only-child-of=PROCESS

}  // namespace memsweep::trace
