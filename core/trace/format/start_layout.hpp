// Which programs were started by processes that have the recorder: the file "starts" in the folder of a recording or of
// counts. Whoever made the folder makes it, in full, and every process that loads the recorder maps it, so that a note
// takes neither a descriptor nor a right that the process may have given up by then.
//
//   0       StartsHeader
//   4096    StartEntry, one after the other, in the order they were taken
//
// The image of an entry's program is the one that begins in the process of the entry, in its namespace, at its time or
// later, and before the next entry of that process. If an entry has no such image, the program ran without the
// recorder.
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/trace/format/preload_obstacle.hpp"

namespace memsweep::trace {

inline constexpr const char* starts_name = "starts";
inline constexpr std::uint64_t starts_magic = 0x317374726174534DULL;  // "MStarts1"
inline constexpr std::uint32_t starts_offset = 4096;
inline constexpr std::uint32_t max_starts = 16'384;  // as many as the file has room for; the rest are only counted

struct StartsHeader {
    std::uint64_t magic{starts_magic};
    std::uint64_t entries{};  // that the file has room for
    std::uint64_t taken{};    // also those that there was no room for
};

enum class StartState : std::uint32_t { empty = 0, begun = 1, failed = 2 };

struct StartEntry {
    StartState state{};
    std::uint32_t process{};      // that the program runs in; 0: not known yet
    std::uint64_t nanoseconds{};  // CLOCK_MONOTONIC, just before
    PreloadObstacle obstacle{};
    std::uint32_t pid_namespace{};  // the starting process's, as in ImageFacts
    char program[104]{};            // the end of its file's path, and zeroes
    char command[128]{};            // its words with blanks between, cut, and zeroes
};
static_assert(sizeof(StartEntry) == 256 && std::is_trivially_copyable_v<StartEntry>);
[[nodiscard]] constexpr std::uint64_t starts_bytes(std::uint64_t entries) noexcept
{
    return starts_offset + entries * sizeof(StartEntry);
}

}  // namespace memsweep::trace
