// Programs of a recorded or counted tree that ran without the recorder: told from what processes with it have started
// (format/start_layout.hpp), and from looks at the tree from outside, which find what such a program starts in turn.
//
// Exact    for every program that a process with the recorder starts by the C library's calls. What a program without
//          it starts is found where it lives until a look; its own entry says that more may be missing.
// Sources  the file "starts"; of a look /proc/PID/exe, maps, environ, auxv and cmdline.
// Cost     of a look some 10 us a process, and 0.1 ms for each program that it has not seen.
// Errors   none while looking: a process that ends meanwhile is passed over. io: the file cannot be made.
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
    PreloadObstacle obstacle{};  // none: it cannot be told from the file
    std::string program;         // its file; of a long path the end
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

// The file in the folder, before the first program is started. As large as limits and room allow; where there is none,
// nothing is noted.
void make_starts(const std::string& folder);
[[nodiscard]] std::string starts_in(const std::string& folder);

// Entries that are in use; none without a file. `not_noted`: programs that there was no room for.
[[nodiscard]] std::vector<StartEntry> read_starts(const std::string& folder, std::uint64_t& not_noted);

// The programs in the order of the entries. `refused`: processes that have the recorder and could not write: they are
// no such programs.
[[nodiscard]] std::vector<UnrecordedProgram> unrecorded_programs(const std::vector<StartEntry>& entries,
                                                                 std::vector<ImageStart> images);

// Looks at all that a process has started.
class TreeLooks {
  public:
    explicit TreeLooks(std::string library) : library_{std::move(library)} {}

    void look(const std::vector<pid_t>& processes);

    // Adds what `programs` lacks. A program that could not be read, as processes are that have changed their user,
    // counts only if it left no image.
    void add_to(std::vector<UnrecordedProgram>& programs, const std::vector<ImageStart>& images) const;

  private:
    struct Sight {
        UnrecordedProgram what;
        bool is_without{};
        bool is_unreadable{};
    };

    std::string library_;
    std::map<std::pair<pid_t, std::string>, Sight> seen_;  // by its file
};

// Writes programs as facts of a trace, which readers of version 0.1 show as they are. Beyond some, the facts tell only
// how many there are.
void put_unrecorded(const std::vector<UnrecordedProgram>& programs, Facts& facts);
// Takes them from the facts.
[[nodiscard]] std::vector<UnrecordedProgram> take_unrecorded(Facts& facts);

}  // namespace memsweep::trace
