// An event: one memory operation of a traced program. Readers of traces return events, and writers of traces take them.
//
// Units    bytes; ticks of the trace's clock (FileHeader::ticks_per_second).
// Ownership  `text` belongs to the reader and is valid until the next event is read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace {

enum class EventKind : std::uint8_t {
    malloc,
    calloc,
    aligned_alloc,
    realloc,  // old_address 0: an allocation; address 0 and size 0: a free
    free,
    free_requested,  // the program has freed the block, but a device may use it until the block's `free` event
    failed_alloc,    // an allocation that was refused; `size` is the requested size
    map,             // address space or a segment of a pool, not a block: mmap, segment_alloc
    unmap,
    external,      // from now on, memory that another owner allocated counts in `space`
    external_end,  // memory of an `external` event no longer counts
    copy,          // `address` is the destination in `space`, old_address the source in source_space
    move,          // as for `copy`
    thread_start,  // `other` is the new thread
    thread_exit,
    fork,  // `other` is the child process
    exec,  // the process executes another program; all its blocks are gone
    process_exit,
    label,
    define_space,  // describes `space`: `text` is its name, space_kind its kind, `other` its device
};
inline constexpr std::size_t event_kinds = 20;

enum class SpaceKind : std::uint8_t { host, pinned, device, managed, other };

struct Event {
    EventKind kind{};
    SpaceKind space_kind{};
    std::uint32_t process{};
    std::uint32_t thread{};
    std::uint32_t space{};  // number of a memory or an allocator; process, space and address identify a block
    std::uint64_t stream{};
    std::uint64_t address{};
    std::uint64_t old_address{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // of aligned_alloc
    std::uint64_t ticks{};      // the clock at the last stamp before this event
    std::uint32_t source_space{};
    std::uint32_t other{};   // meaning: see EventKind
    std::uint32_t stack{};   // call stack: a node in the reader's StackTable or in the writer's tree; 0: not known
    std::uint32_t module{};  // of map, unmap: the calling module's place, from 1, in ProgramNotes::modules(); 0: none
    std::string_view text{};
};

[[nodiscard]] constexpr bool is_allocation(EventKind kind) noexcept
{
    return kind <= EventKind::aligned_alloc;
}

// Says whether a chunk of kind `stacks` has a node for an event of this kind.
[[nodiscard]] constexpr bool takes_stack(EventKind kind, std::uint64_t address) noexcept
{
    return is_allocation(kind) || (kind == EventKind::realloc && address != 0) || kind == EventKind::failed_alloc ||
           kind == EventKind::map;
}

// Says whether a chunk of kind `mappers` has a module for an event of this kind.
[[nodiscard]] constexpr bool takes_mapper(EventKind kind) noexcept
{
    return kind == EventKind::map || kind == EventKind::unmap;
}

[[nodiscard]] constexpr std::string_view name_of(EventKind kind)
{
    constexpr std::array<std::string_view, event_kinds> names{
        "malloc",      "calloc", "aligned_alloc", "realloc",      "free",  "free_requested", "failed_alloc",
        "map",         "unmap",  "external",      "external_end", "copy",  "move",           "thread_start",
        "thread_exit", "fork",   "exec",          "process_exit", "label", "define_space"};
    return names.at(static_cast<std::size_t>(kind));
}

[[nodiscard]] constexpr std::string_view name_of(SpaceKind kind)
{
    constexpr std::array<std::string_view, 5> names{"host", "pinned", "device", "managed", "other"};
    return names.at(static_cast<std::size_t>(kind));
}

// Decodes the events of a chunk's payload, one after another.
//
// Cost     3 to 10 ns per event.
// Memory   none: the payload is not copied.
// Errors   next() returns false at the end of the payload. At bytes that are not an event it also returns false, and
//          damaged() is true from then on.
// Ownership  the caller owns the payload, which must outlive the decoder and the texts of its events.
class EventDecoder {
  public:
    EventDecoder() = default;
    EventDecoder(const ChunkHeader& header, std::span<const std::uint8_t> payload) noexcept;

    // Reads the next event. False: there is none, or the payload is damaged.
    [[nodiscard]] bool next(Event& event) noexcept;
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }
    // Returns how many bytes of the payload have been read.
    [[nodiscard]] std::size_t position() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  private:
    enum class Found { event, context, end, damage };

    Found other(OtherOperation operation, Event& event) noexcept;
    // Each of these functions reads a part of an event. False: the payload ends before the end of this part, or the
    // part is not valid.
    bool stamp() noexcept;
    bool sized(Event& event) noexcept;
    bool aligned(Event& event) noexcept;
    bool define_space(Event& event) noexcept;
    bool transfer(Event& event) noexcept;
    bool number(std::uint64_t& value) noexcept;
    bool small_number(std::uint32_t& value) noexcept;
    bool address(std::uint64_t& value) noexcept;
    bool text(std::string_view& value) noexcept;
    Event& begin(EventKind kind, Event& event) const noexcept;

    const std::uint8_t* begin_{};
    const std::uint8_t* at_{};
    const std::uint8_t* end_{};
    std::uint64_t place_{};
    std::uint64_t ticks_{};
    std::uint64_t stream_{};
    std::uint32_t process_{};
    std::uint32_t thread_{};
    std::uint32_t space_{};
    unsigned rotation_{};
    bool damaged_{};
};

}  // namespace memsweep::trace
