// Asks the kernel which mapping of this process contains an address.
//
// Sources  proc_pid_maps(5): PROCMAP_QUERY (from Linux 6.11 on); before Linux 6.11, the lines of
//          /proc/thread-self/maps.
// Cost     some 3 us; before Linux 6.11 some 100 ns for each mapping below the address.
// Memory   only the caller's buffer `room`. Before Linux 6.11, the search ends at a line that does not fit into this
//          buffer.
// Errors   nothing is found without /proc or without a free descriptor.
// Threads  any; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memsweep::trace::recorder {

struct OwnMapping {
    std::uint64_t low{};
    std::uint64_t high{};
    bool is_main_stack{};  // the main thread's stack, which grows
    bool is_of_file{};     // also true for shared memory that has a name
    [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - low < high - low; }
};

// The least size that `room` must have.
inline constexpr std::size_t mapping_room_bytes = 512;
// Stores the mapping that contains the address in `found`. False: no mapping was found.
[[nodiscard]] bool find_own_mapping(std::uint64_t address, std::span<char> room, OwnMapping& found) noexcept;

}  // namespace memsweep::trace::recorder
