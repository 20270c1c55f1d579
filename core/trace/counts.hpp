// The counts that recorders without a log left in a folder (format/count_layout.hpp), summed over a program and the
// processes that it started.
//
// Sums     calls and bytes asked for are sums over all process images. The peak is the largest of any one image. Images
//          that run side by side reach their peaks at times that do not repeat, and images that follow one another
//          never have theirs at once. The bytes live at the end are the sum of what each image had not freed when it
//          ended. A parent's blocks do not count for a forked child.
// Errors   not_supported, with the reason: not every program was counted, or so little was counted that it cannot be
//          all of the program's. io: the folder cannot be read.
// Threads  one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::trace {

struct Counts {
    std::uint64_t images{};           // a start, a fork and an exec make one each
    std::uint64_t allocations{};      // calls that gave a block, including reallocations
    std::uint64_t allocated_bytes{};  // asked for
    std::uint64_t live_bytes_peak{};
    std::uint64_t live_bytes_end{};
};

// The malloc of a program that was counted.
struct ServedProgram {
    std::string program;  // its file
    std::string library;  // that malloc comes from; empty: not known
    bool is_own{};        // the program brings its own malloc, whose calls are not counted
    friend bool operator==(const ServedProgram&, const ServedProgram&) = default;
};

// The result of counting a tree of processes.
struct CountedTree {
    Counts counts;
    std::uint64_t refused{};                    // processes for which no file could be made, or not every size kept
    std::vector<ServedProgram> served;          // each once
    std::vector<UnrecordedProgram> unrecorded;  // programs that ran without the recorder
    std::uint64_t not_noted{};                  // programs that were started and about which nothing is known
    std::uint64_t address_limit_bytes{};        // the smallest RLIMIT_AS of a process; 0: none had one
    std::string why_unseen;                     // why blocks were not seen; empty: those seen explain each heap's pages

    // The counts, if they cover all programs; otherwise why not.
    [[nodiscard]] base::Expected<Counts> whole() const;
};

// Call when the processes have ended. Removes the files that it has read. `looks`: the looks at the tree while it ran.
[[nodiscard]] base::Expected<CountedTree> take_counts(const std::string& folder,
                                                      const TreeLooks& looks = TreeLooks{""});

}  // namespace memsweep::trace
