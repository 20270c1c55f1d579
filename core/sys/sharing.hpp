// Measures named shared memory between this process and another: how fast one reads what the other wrote, how long a
// word takes to be seen there, and whether every byte arrives.
//
// Units    bytes, nanoseconds of the steady clock.
// Sources  shm_open(3), posix_fallocate(3), fork(2): the second process opens the memory anew, by its name.
// Cost     two mappings of the size, one process; `rounds` passes over the memory on each side.
// Errors   shm_full, no_memory, no_process, peer_ended: see Sharing::Outcome. Nothing is left behind in /dev/shm: the
//          name goes as soon as both have the memory.
// Threads  any; the second process runs the calling thread alone, and allocates nothing.
#pragma once

#include <cstdint>

namespace memsweep::sys {

struct Sharing {
    enum class Outcome : std::uint8_t {
        done,
        shm_full,    // /dev/shm has no room
        no_memory,   // it cannot be mapped
        no_process,  // no second process can be started
        peer_ended,  // the second process died on the way
    };
    Outcome outcome{Outcome::done};
    std::uint64_t bytes{};        // read and checked by the second process, over all rounds
    std::uint64_t wrong_bytes{};  // the part of them that differs from what was written
    std::int64_t write_ns{};      // this process, over all rounds
    std::int64_t read_ns{};       // the second process, over all rounds
    std::int64_t turn_ns{};       // from a store here to its sight there: half of a round trip, the mean of many
};

inline constexpr std::uint64_t sharing_turns = 2000;  // turn_ns is the mean of so many round trips

[[nodiscard]] Sharing share_with_a_process(std::uint64_t bytes, std::uint64_t rounds) noexcept;

}  // namespace memsweep::sys
