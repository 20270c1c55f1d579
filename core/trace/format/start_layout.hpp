// The file "starts" in the folder of a recording or of counts. It lists the programs that processes with the recorder
// have started. It also lists processes that are not recorded because nobody could make a recording file for them, and
// that could not make the link `.refused` (recording_layout.hpp) either. memsweep makes the file "starts" together with
// the folder, at its full size. A process maps this file as soon as it has loaded the recorder. So the process can add
// an entry later without a descriptor, even if it may no longer open the file. A forked child inherits the mapping.
//
//   0       StartsHeader
//   4096    StartEntry, one after the other, in the order in which processes reserved them
//
// If the started program ran with the recorder, the recording has a file for this process image
// (recording_layout.hpp), with the process and namespace of the entry. That image begins at the entry's time or later,
// and before the time of the next entry of the same process. If the recording has no such image, the program ran
// without the recorder. An entry of state `unrecorded` does not stand for a started program: it says that its process
// is not recorded from now on.
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/trace/format/lent_file.hpp"
#include "core/trace/format/preload_obstacle.hpp"

namespace memsweep::trace {

inline constexpr const char* starts_name = "starts";
inline constexpr std::uint64_t starts_magic = 0x327374726174534DULL;  // "MStarts2"
inline constexpr std::uint32_t starts_offset = 4096;
inline constexpr std::uint32_t max_starts = 16'384;  // entries that fit; further starts are only counted

struct StartsHeader {
    std::uint64_t magic{starts_magic};
    std::uint64_t entries{};  // how many entries fit into the file
    std::uint64_t taken{};    // how many entries were reserved, including those that did not fit
    Lending lending{};        // used while memsweep records or counts
};
static_assert(sizeof(StartsHeader) <= starts_offset);

enum class StartState : std::uint32_t { empty = 0, begun = 1, failed = 2, unrecorded = 3 };

struct StartEntry {
    StartState state{};
    std::uint32_t process{};      // the process that the program runs in; 0: not known yet
    std::uint64_t nanoseconds{};  // CLOCK_MONOTONIC, just before the start
    PreloadObstacle obstacle{};
    std::uint32_t pid_namespace{};  // the PID namespace of the starting process, as in ImageFacts
    char program[104]{};            // the end of the path of the program's file, then zeroes
    char command[128]{};            // the command line, words separated by blanks, cut to fit, then zeroes
};
static_assert(sizeof(StartEntry) == 256 && std::is_trivially_copyable_v<StartEntry>);
[[nodiscard]] constexpr std::uint64_t starts_bytes(std::uint64_t entries) noexcept
{
    return starts_offset + entries * sizeof(StartEntry);
}

}  // namespace memsweep::trace
