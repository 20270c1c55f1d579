// Asks the kernel in which mapping of this process an address lies.
//
// Sources  proc_pid_maps(5): PROCMAP_QUERY (Linux 6.11), before that the file's lines.
// Cost     some 3 us; before Linux 6.11 some 100 ns for each mapping below the address.
// Memory   only the room that it is given. Before Linux 6.11, a line that does not fit ends the search.
// Errors   without /proc, or without a free descriptor, nothing is found.
// Threads  any; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memsweep::trace::recorder {

struct OwnMapping {
    std::uint64_t low{};
    std::uint64_t high{};
    bool is_main_stack{};  // the stack that grows
    bool is_of_file{};     // true also for shared memory that has a name of its own
    [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - low < high - low; }
};

// The least size of the room.
inline constexpr std::size_t mapping_room_bytes = 512;
// False: no mapping is known there.
[[nodiscard]] bool find_own_mapping(std::uint64_t address, std::span<char> room, OwnMapping& found) noexcept;

}  // namespace memsweep::trace::recorder
