// Measures named shared memory between this process and a second process that it forks. It measures how fast this
// process writes the memory, how fast the second process reads it, how long it takes until one process sees a store of
// the other process, and whether every byte arrives.
//
// Units    bytes; nanoseconds of the steady clock.
// Sources  shm_open(3), posix_fallocate(3), fork(2). The second process opens the memory by its name.
// Cost     one more process, and one mapping of the memory in each process. Each process reads or writes the whole
//          memory `rounds` times.
// Errors   see Sharing::Outcome. No file stays in /dev/shm: the name is removed as soon as both processes have mapped
//          the memory.
// Threads  any. The second process has only a copy of the calling thread, and allocates nothing.
#pragma once

#include <cstdint>

namespace memsweep::sys {

struct Sharing {
    enum class Outcome : std::uint8_t {
        done,
        shm_full,    // /dev/shm has no space left
        no_memory,   // the shared memory cannot be made or mapped
        no_process,  // the second process cannot be started
        peer_ended,  // the second process died before the end
    };
    Outcome outcome{Outcome::done};
    std::uint64_t bytes{};        // bytes that the second process has read and checked, over all rounds
    std::uint64_t wrong_bytes{};  // how many of `bytes` differ from the bytes that were written
    std::int64_t write_ns{};      // time that this process spent writing, over all rounds
    std::int64_t read_ns{};       // time that the second process spent reading, over all rounds
    std::int64_t turn_ns{};       // time until the other process sees a store: half of the mean round trip
};

inline constexpr std::uint64_t sharing_turns = 2000;  // the number of round trips behind turn_ns

[[nodiscard]] Sharing share_with_a_process(std::uint64_t bytes, std::uint64_t rounds) noexcept;

}  // namespace memsweep::sys
