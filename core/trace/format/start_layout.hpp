// The file "starts" in the folder of a recording or of counts. It lists the programs that were started by processes
// with the recorder. The file is made in full together with the folder, and every process that loads the recorder maps
// it. So a note needs no descriptor, and no right that the process may have given up by then.
//
//   0       StartsHeader
//   4096    StartEntry, one after the other, in the order they were taken
//
// An entry's program has an image if one begins in the entry's process and namespace, at the entry's time or later, and
// before the next entry of that process. If there is no such image, the program ran without the recorder.
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
inline constexpr std::uint32_t max_starts = 16'384;  // the file has room for so many; the rest are only counted

struct StartsHeader {
    std::uint64_t magic{starts_magic};
    std::uint64_t entries{};  // entries that the file has room for
    std::uint64_t taken{};    // entries taken, including those without room
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
