// Programs of a recorded or counted tree that ran without the recorder. Processes with the recorder note what they
// start (format/start_layout.hpp). Looks at the tree from outside find what a program without the recorder starts.
//
// Exact    for every program that a process with the recorder starts by the C library's calls. If a program without the
//          recorder starts another, that one is found only if it lives until a look; the starter's entry warns that
//          more may be missing.
// Sources  the file "starts"; for a look, /proc/PID/exe, maps, environ, auxv and cmdline.
// Cost     a look takes some 10 us a process, and 0.1 ms for each program that it has not seen before.
// Errors   none: a look skips a process that has ended. If the file cannot be made, nothing is noted.
// Threads  one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/format/preload_obstacle.hpp"
#include "core/trace/format/start_layout.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {

struct UnrecordedProgram {
    std::uint32_t process{};
    PreloadObstacle obstacle{};  // none: its file does not show why
    std::string program;         // the path of its file, or the end of a long path
    std::string command;         // empty: not known
};

[[nodiscard]] std::string reason_of(const UnrecordedProgram& one);
// "/bin/busybox (process 12, `busybox sh`): statically linked, ..."
[[nodiscard]] std::string describe(const UnrecordedProgram& one);
// The first few of them, and how many more.
[[nodiscard]] std::string describe(const std::vector<UnrecordedProgram>& programs);

// When an image began.
struct ImageStart {
    std::uint32_t process{};
    std::uint32_t pid_namespace{};
    std::uint64_t nanoseconds{};  // CLOCK_MONOTONIC
};

// Makes the file in the folder; call it before the first program is started. The file is as large as limits and room
// allow. If there is no room for it, nothing is noted.
void make_starts(const std::string& folder);
[[nodiscard]] std::string starts_in(const std::string& folder);

// Returns the entries that are in use; none if there is no file. `not_noted`: how many programs the file had no room
// for.
[[nodiscard]] std::vector<StartEntry> read_starts(const std::string& folder, std::uint64_t& not_noted);

// The programs that ran without the recorder, in the order of the entries: those that cannot load it, and those that
// left no image.
[[nodiscard]] std::vector<UnrecordedProgram> unrecorded_programs(const std::vector<StartEntry>& entries,
                                                                 std::vector<ImageStart> images);

// Looks at all that a process has started.
class TreeLooks {
  public:
    explicit TreeLooks(std::string library) : library_{std::move(library)} {}

    void look(const std::vector<pid_t>& processes);

    // Adds what `programs` lacks. Some programs cannot be read, for example after they changed their user. These count
    // only if they left no image.
    void add_to(std::vector<UnrecordedProgram>& programs, const std::vector<ImageStart>& images) const;

  private:
    struct Sight {
        UnrecordedProgram what;
        bool is_without{};
        bool is_unreadable{};
    };

    std::string library_;
    std::map<std::pair<pid_t, std::string>, Sight> seen_;  // by process and path of its file
};

// Writes programs as facts of a trace, which readers of version 0.1 show as they are. The facts describe the first 1000
// programs and give the number of all.
void put_unrecorded(const std::vector<UnrecordedProgram>& programs, Facts& facts);
// Removes the programs from the facts and returns them.
[[nodiscard]] std::vector<UnrecordedProgram> take_unrecorded(Facts& facts);

}  // namespace memsweep::trace
