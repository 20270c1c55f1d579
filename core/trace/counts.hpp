// Reads the files of recorders that only count (format/count_layout.hpp), and adds them up over a program and its
// descendants. A process image begins with a start, a fork or an exec.
//
// Sums     Calls and requested bytes are sums over all images. The bytes live at the end are the sum of the bytes that
//          each image had not freed when it ended. Blocks that a forked child inherits are not counted for the child.
//          The peak is the largest peak of any image, and not a sum: images that run one after another never reach
//          their peaks at the same time. Images that run side by side reach their peaks at times that differ from run
//          to run.
// Errors   not_supported, with the reason: not every program was counted, or the counts are too small for the size of
//          the heap. io: the folder cannot be read.
// Threads  one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::trace {

struct Counts {
    std::uint64_t images{};           // process images
    std::uint64_t allocations{};      // calls that returned a block, including realloc
    std::uint64_t allocated_bytes{};  // bytes that these calls requested
    std::uint64_t live_bytes_peak{};
    std::uint64_t live_bytes_end{};
};

// A program that was counted, and its malloc.
struct ServedProgram {
    std::string program;  // path of the executable
    std::string library;  // file of the malloc behind the recorder; empty: not known
    bool is_own{};        // the program has its own malloc, whose calls are not counted
    friend bool operator==(const ServedProgram&, const ServedProgram&) = default;
};

// The result of counting a tree of processes.
struct CountedTree {
    Counts counts;
    std::uint64_t refused{};  // processes that have no count file, or for which block sizes could not be stored
    std::vector<ServedProgram> served;          // without duplicates
    std::vector<UnrecordedProgram> unrecorded;  // programs that ran without the recorder
    std::uint64_t not_noted{};                  // started programs about which nothing is known
    std::uint64_t address_limit_bytes{};        // the smallest RLIMIT_AS of a process; 0: no process had a limit
    std::string why_unseen;                     // why blocks must have been missed; empty: none seem to be missing

    // The counts if they cover all programs; else an error with the reason.
    [[nodiscard]] base::Expected<Counts> whole() const;
};

// Call it after all processes have ended. Removes the files that it has read. `looks`: what was seen of the process
// tree while it ran.
[[nodiscard]] base::Expected<CountedTree> take_counts(const std::string& folder,
                                                      const TreeLooks& looks = TreeLooks{""});

}  // namespace memsweep::trace
