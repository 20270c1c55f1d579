// The layout of the file that the recorder writes if it only counts. Each process image (a start, a fork or an exec)
// has a file <process>.<number>.count in the folder of the recording. The process maps the file and keeps its counts in
// it, so the file is complete even if the process is killed.
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace memsweep::trace {

inline constexpr std::uint32_t count_magic = 0x544E434DU;  // "MCNT"
inline constexpr std::uint32_t count_version = 4;
inline constexpr const char* count_ending = ".count";

// The counts of some of the threads. A file has several shards, so that fewer threads write to the same cache line.
struct alignas(64) CountShard {
    std::uint64_t allocations{};      // calls that returned a block: malloc, calloc, realloc and the aligned ones
    std::uint64_t allocated_bytes{};  // bytes that these calls requested
};

struct CountFile {
    std::uint32_t magic{};  // written last: until it is count_magic, nothing in this file is valid
    std::uint32_t version{count_version};
    std::uint32_t process{};
    std::uint32_t foreign_malloc{};           // 1: the program has its own malloc, so its calls are not counted
    std::uint64_t heap_pages_bytes{};         // result of heap_pages_bytes() (heap_pages.hpp) at exit(3); 0: not known
    alignas(64) std::uint64_t live_bytes{};   // requested and not freed yet
    std::uint64_t live_bytes_peak{};          // the largest value of live_bytes
    alignas(64) std::uint64_t lost_blocks{};  // blocks whose size could not be stored
    std::uint64_t address_limit_bytes{};      // RLIMIT_AS; 0: no limit
    alignas(64) std::array<CountShard, 64> shards{};
    std::uint64_t start_nanoseconds{};  // when the image began: CLOCK_MONOTONIC
    std::uint32_t pid_namespace{};      // inode of /proc/self/ns/pid; 0: not known
    char program[116]{};                // path of the executable, cut if too long, padded with zeroes; empty: not known
    char served_by[512]{};  // path of the library whose malloc the recorder calls, in the same form as `program`
};
static_assert(std::is_trivially_copyable_v<CountFile> && sizeof(CountFile) == 3 * 64 + 64 * 64 + 640);

}  // namespace memsweep::trace
