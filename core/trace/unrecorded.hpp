// Finds programs of a recorded or counted process tree that ran without the recorder. Processes with the recorder note
// each program that they start (format/start_layout.hpp). Programs that other processes start are found by looks. A
// look reads the process tree in /proc once, while the tree runs.
//
// Exact    for every program that a process with the recorder starts by the C library's calls. A program started by a
//          process without the recorder is found only if it is still running at the next look. So if a
//          listed process ran without the recorder, programs that it started may be missing from the list.
// Sources  the file "starts"; for a look, /proc/PID/exe, maps, environ, auxv and cmdline.
// Cost     a look takes some 10 us for each process, and 0.1 ms for each program that no earlier look has seen.
// Errors   none: a look skips a process that has ended. If the file "starts" cannot be made, nothing is noted.
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
    PreloadObstacle obstacle{};  // why the recorder was not loaded; none: the program's file does not show why
    std::string program;         // the path of its file, or only the end of a long path
    std::string command;         // empty: the command line is not known
};

[[nodiscard]] std::string reason_of(const UnrecordedProgram& one);
// "/bin/busybox (process 12, `busybox sh`): statically linked, ..."
[[nodiscard]] std::string describe(const UnrecordedProgram& one);
// Describes the first few programs, and says how many more there are.
[[nodiscard]] std::string describe(const std::vector<UnrecordedProgram>& programs);

// When a process image (recording_layout.hpp) began.
struct ImageStart {
    std::uint32_t process{};
    std::uint32_t pid_namespace{};
    std::uint64_t nanoseconds{};  // CLOCK_MONOTONIC
};

// Makes the file "starts" in the folder. Call this before the first program starts. The file has max_starts entries, or
// fewer if it would exceed the limit on file sizes or 1/64 of the free disk space. If the file cannot be made, nothing
// is noted.
void make_starts(const std::string& folder);
[[nodiscard]] std::string starts_in(const std::string& folder);

// Returns the used entries of the file "starts"; none if there is no such file. Sets `not_noted` to the number of
// programs for which the file had no space.
[[nodiscard]] std::vector<StartEntry> read_starts(const std::string& folder, std::uint64_t& not_noted);

// Returns the programs that ran without the recorder, in the order of the entries: programs that cannot load it,
// programs that left no image (a recording), and processes that have added an entry of state `unrecorded`.
[[nodiscard]] std::vector<UnrecordedProgram> unrecorded_programs(const std::vector<StartEntry>& entries,
                                                                 std::vector<ImageStart> images);
// Returns only the processes that have added an entry of state `unrecorded`. It is certain that these are missing
// from the recording, so no images are needed.
[[nodiscard]] std::vector<UnrecordedProgram> unrecorded_processes(const std::vector<StartEntry>& entries);

// Looks at the processes of a tree from outside, and remembers which programs ran without the recorder.
class TreeLooks {
  public:
    explicit TreeLooks(std::string library) : library_{std::move(library)} {}

    void look(const std::vector<pid_t>& processes);

    // Adds one program for each process that a look found without the recorder and that `programs` lacks. A look may be
    // unable to read a process, for example because the process changed its user. The program of such a process is
    // added only if the process left no image (a recording).
    void add_to(std::vector<UnrecordedProgram>& programs, const std::vector<ImageStart>& images) const;

  private:
    struct Sight {
        UnrecordedProgram what;
        bool is_without{};
        bool is_unreadable{};
    };

    std::string library_;
    std::map<std::pair<pid_t, std::string>, Sight> seen_;  // by process and the path of the program's file
};

// Writes programs as facts of a trace. Readers of version 0.1 show these facts as they are. Only the first 1000
// programs have a fact of their own; another fact holds the number of all programs.
void put_unrecorded(const std::vector<UnrecordedProgram>& programs, Facts& facts);
// Removes the programs from the facts and returns them.
[[nodiscard]] std::vector<UnrecordedProgram> take_unrecorded(Facts& facts);

}  // namespace memsweep::trace
