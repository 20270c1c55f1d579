// Reads the files of recorders that only count (format/count_layout.hpp), and adds up the counts of a program and its
// descendants. Each process image has such a file: a process image begins with a start, a fork or an exec.
//
// Sums     Calls and requested bytes are sums over all images. So are the bytes live at the end: each image adds the
//          bytes that it had not freed when it ended. Blocks that a forked child inherits are not counted for the
//          child. The peak is the largest peak of any image, and not a sum: images that run one after another never
//          reach their peaks at the same time. For images that run at the same time, a sum would differ from run to
//          run, because the times of their peaks do.
// Errors   not_supported, with the reason: not every program was counted, or the heap is much larger than the
//          counted blocks can explain. io: the folder cannot be read.
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

// A program that was counted, and the library whose malloc served it.
struct ServedProgram {
    std::string program;  // path of the executable
    std::string library;  // file of the library whose malloc the recorder calls; empty: not known
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
    std::string why_unseen;  // why some blocks cannot have been counted; empty: none seem to be missing

    // Returns the counts if they cover all programs; else an error with the reason.
    [[nodiscard]] base::Expected<Counts> whole() const;
};

// Reads the count files in `folder`, and removes them. Call it after all processes have ended.
// `looks`: what memsweep saw of the process tree while the processes ran.
[[nodiscard]] base::Expected<CountedTree> take_counts(const std::string& folder,
                                                      const TreeLooks& looks = TreeLooks{""});

}  // namespace memsweep::trace
