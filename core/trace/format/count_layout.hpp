// The file that the recorder writes if it only counts. Each process image has one, <process>.<number>.count, in the
// folder of the recording. It is mapped while the process runs, so it is complete whenever the process dies.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace memsweep::trace {

inline constexpr std::uint32_t count_magic = 0x544E434DU;  // "MCNT"
inline constexpr std::uint32_t count_version = 4;
inline constexpr const char* count_ending = ".count";

// The counts of the threads that share this shard.
struct alignas(64) CountShard {
    std::uint64_t allocations{};      // calls that gave a block: malloc, calloc, realloc and the aligned ones
    std::uint64_t allocated_bytes{};  // that they asked for
};

struct CountFile {
    std::uint32_t magic{};  // written last: without it nothing here is valid
    std::uint32_t version{count_version};
    std::uint32_t process{};
    std::uint32_t foreign_malloc{};           // 1: the program brings its own malloc, so its calls are not seen
    std::uint64_t heap_pages_bytes{};         // bytes of the heap at exit(3) that can only be blocks; 0: not known
    alignas(64) std::uint64_t live_bytes{};   // asked for and not given back
    std::uint64_t live_bytes_peak{};          // the largest value of live_bytes
    alignas(64) std::uint64_t lost_blocks{};  // blocks whose size could not be kept
    std::uint64_t address_limit_bytes{};      // RLIMIT_AS; 0: none
    alignas(64) std::array<CountShard, 64> shards{};
    std::uint64_t start_nanoseconds{};  // CLOCK_MONOTONIC
    std::uint32_t pid_namespace{};      // inode of /proc/self/ns/pid; 0: not known
    char program[116]{};                // the executable's path, cut, and zeroes; empty: not known
    char served_by[512]{};              // the file that malloc comes from behind the recorder, likewise
};
static_assert(std::is_trivially_copyable_v<CountFile> && sizeof(CountFile) == 3 * 64 + 64 * 64 + 640);

}  // namespace memsweep::trace
