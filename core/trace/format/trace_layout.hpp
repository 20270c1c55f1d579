// The layout of a trace file (.mst, version 1): a header, then chunks. Everything is little-endian.
// docs/trace-format.md describes the format.
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
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
// The largest payload before compression. It limits the memory that a reader needs.
inline constexpr std::uint32_t max_chunk_bytes = 16U << 20U;
inline constexpr unsigned events_per_stamp = 64;

struct FileHeader {
    std::array<std::uint8_t, 8> magic{file_magic};
    std::uint16_t version{format_version};
    std::uint16_t header_bytes{64};
    std::uint32_t flags{};
    std::uint64_t ticks_per_second{};  // rate of the clock of all time stamps; 0: stamps only give an order
    std::uint64_t start_ticks{};       // the ticks of the clock at start_unix_ns
    std::uint64_t start_unix_ns{};     // 0: not known
    std::uint32_t process{};           // the first process that was recorded
    std::uint32_t page_bytes{};
    std::array<std::uint32_t, 3> reserved{};
    std::uint32_t header_crc{};  // CRC-32C of the 60 bytes before it
};
static_assert(sizeof(FileHeader) == 64 && std::is_trivially_copyable_v<FileHeader>);

// facts               lines of "name=value" about the recording
// slots, words        a recorder's own chunks (recording_layout.hpp)
// frames ... callers  information about events (stack_layout.hpp): call stacks with their modules and symbols, the code
//                     that mapped memory, threads' stacks, usable sizes, and callers of events without a stack
// snapshot            a process's address space at one moment (core/trace/snapshot.hpp)
// end_mark            when the program's work was done (core/trace/end_mark.hpp)
enum class ChunkKind : std::uint8_t {
    events = 1,
    facts = 2,
    slots = 3,
    words = 4,
    frames = 5,
    stacks = 6,
    modules = 7,
    symbols = 8,
    mappers = 9,
    thread_stacks = 10,
    usable_sizes = 11,
    callers = 12,
    snapshot = 13,
    end_mark = 14,
};
enum class Codec : std::uint8_t { raw = 0, zstd = 1 };
// A chunk with this flag was still being written when its process died. Its lengths and payload_crc are not filled in,
// and its events end at the first end_of_chunk (a zero byte). Such chunks come from recorders that write into a mapped
// file.
inline constexpr std::uint8_t chunk_unsealed = 1;
// In a chunk with this flag, each event happened within a few milliseconds after the last stamp before it. So a reader
// places the events directly after that stamp, at most 2 us apart. In a chunk without this flag, a reader spreads
// the events evenly from one stamp to the next.
inline constexpr std::uint8_t chunk_ticked = 2;

struct ChunkHeader {
    std::uint32_t magic{chunk_magic};
    ChunkKind kind{ChunkKind::events};
    Codec codec{Codec::raw};
    std::uint8_t rotation{4};  // addresses are rotated right by this many bits, so that low zero bits cost nothing
    std::uint8_t flags{};
    std::uint32_t span_bytes{};    // from the start of this header to the next header
    std::uint32_t stored_bytes{};  // size of the payload behind this header
    std::uint32_t raw_bytes{};     // size of the payload, decompressed
    std::uint32_t events{};        // 0 in an unsealed chunk
    std::uint32_t process{};
    std::uint32_t thread{};       // chunks of one process and thread are one stream, in the order of the file
    std::uint64_t sequence{};     // 0, 1, 2, ... within the stream; a gap shows that a chunk is missing
    std::uint64_t first_ticks{};  // the clock before the first event; the chunk's stamps count from it
    std::uint64_t last_ticks{};
    std::uint32_t payload_crc{};  // CRC-32C of the stored payload
    std::uint32_t header_crc{};   // CRC-32C of the 60 bytes before it, even in an unsealed chunk
};
static_assert(sizeof(ChunkHeader) == 64 && std::is_trivially_copyable_v<ChunkHeader>);

// Each event begins with a varint. The low two bits of this varint are the event's Opcode. The other bits are the
// zigzagged difference: the event's rotated address minus the previous rotated address in the chunk. With the Opcode
// `other`, these bits are an OtherOperation instead, and the operands of this operation follow.
enum class Opcode : std::uint8_t { other = 0, free = 1, malloc = 2, realloc = 3 };

enum class OtherOperation : std::uint8_t {
    end_of_chunk = 0,  // value 0, so that zeroes never look like events
    stamp,             // ticks since the last stamp
    base,              // the rotated address from which the next difference counts
    thread,            // thread of the events that follow; a chunk begins with the thread of its header
    process,           // process of the events that follow; a chunk begins with the process of its header
    space,             // space of the events that follow; a chunk begins with 0
    stream,            // device stream of the events that follow; a chunk begins with 0
    define_space,      // index, SpaceKind, device, length of the name, name
    calloc,            // difference, size; here and below, the difference is a varint of its own, without an Opcode
    aligned_alloc,     // difference, size, log2 of the alignment
    map,               // difference, size
    unmap,             // difference, size
    thread_start,      // the new thread
    thread_exit,       //
    fork,              // the child's process
    exec,              //
    process_exit,      //
    label,             // length, text
    copy,              // difference of the destination, difference of the source, size, space of the source
    move,              // likewise
    failed_alloc,      // size
    free_requested,    // difference; the block stays live until its `free` event
    external,          // difference, size; from now on, this range of another owner counts in the space
    external_end,      // difference
};
inline constexpr std::uint64_t other_operations = 24;
// If the zigzagged difference is at least this large, a `base` comes before the event, and the event's difference is 0.
inline constexpr std::uint64_t max_difference = 1ULL << 61U;

[[nodiscard]] constexpr std::uint64_t rotated(std::uint64_t address, unsigned rotation) noexcept
{
    return std::rotr(address, static_cast<int>(rotation));
}

[[nodiscard]] constexpr std::uint64_t unrotated(std::uint64_t value, unsigned rotation) noexcept
{
    return std::rotl(value, static_cast<int>(rotation));
}

}  // namespace memsweep::trace
