// One thing that a traced program did with memory. Readers return these events, and writers take them.
//
// Units    bytes; ticks of the trace's clock (FileHeader::ticks_per_second).
// Ownership  `text` belongs to the reader and holds until the next event.
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
    free_requested,  // the program has let go; a stream still uses the block until its `free`
    failed_alloc,    // refused: size is what was asked for
    map,             // address space or a pool's segment, not a block: mmap, segment_alloc
    unmap,
    external,  // memory of others is charged to a space, and is no more
    external_end,
    copy,  // old_address is the source, in source_space
    move,
    thread_start,  // `other` is the new thread
    thread_exit,
    fork,  // `other` is the child's process
    exec,  // the process begins anew, with nothing
    process_exit,
    label,
    define_space,  // `text` names it, `space_kind` and `other` (the device) say what it is
};
inline constexpr std::size_t event_kinds = 20;

enum class SpaceKind : std::uint8_t { host, pinned, device, managed, other };

struct Event {
    EventKind kind{};
    SpaceKind space_kind{};
    std::uint32_t process{};
    std::uint32_t thread{};
    std::uint32_t space{};  // a memory, or an allocator of the program; process, space and address identify a block
    std::uint64_t stream{};
    std::uint64_t address{};
    std::uint64_t old_address{};
    std::uint64_t size{};
    std::uint64_t alignment{};  // aligned_alloc's
    std::uint64_t ticks{};      // those of the last stamp before it
    std::uint32_t source_space{};
    std::uint32_t other{};
    std::uint32_t stack{};   // its call stack: a node of a reader's StackTable, or of a writer's tree; 0: not known
    std::uint32_t module{};  // map, unmap: whose code called: a place in a reader's ProgramNotes; 0: not known
    std::string_view text{};
};

[[nodiscard]] constexpr bool is_allocation(EventKind kind) noexcept
{
    return kind <= EventKind::aligned_alloc;
}

// Whether a chunk of stacks has a node for it.
[[nodiscard]] constexpr bool takes_stack(EventKind kind, std::uint64_t address) noexcept
{
    return is_allocation(kind) || (kind == EventKind::realloc && address != 0) || kind == EventKind::failed_alloc ||
           kind == EventKind::map;
}

// Whether a chunk of mappers has a module for it.
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

// The events of one chunk's payload, one after the other.
//
// Cost     3 to 10 ns an event.
// Memory   none: it reads the payload where it lies.
// Errors   next() ends at the payload's end. It ends earlier, and damaged() is true, if the payload is no sequence of
//          events.
// Ownership  the payload is the caller's and outlives the decoder's events.
class EventDecoder {
  public:
    EventDecoder() = default;
    EventDecoder(const ChunkHeader& header, std::span<const std::uint8_t> payload) noexcept;

    // The next event; false when there is none.
    [[nodiscard]] bool next(Event& event) noexcept;
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }
    // How many bytes of the payload have been read.
    [[nodiscard]] std::size_t position() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  private:
    enum class Found { event, context, end, damage };

    Found other(OtherOperation operation, Event& event) noexcept;
    // Each reads a part of an event; false: the payload does not hold it.
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
