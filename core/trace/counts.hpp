// What recorders that keep no log left in a folder (format/count_layout.hpp), summed over a program and the processes
// that it started.
//
// Sums     calls and bytes asked for are those of all process images together. The peak is the largest of any one
// image:
//          images that run beside each other reach theirs at times that do not repeat, and images that follow one
//          another never have theirs at once. What is live at the end is the sum of what each image had not given
//          back when it ended; a forked child does not answer for its parent's blocks.
// Errors   not_supported: nothing was counted, or so little that it is not the program's, and why; io: the folder
// cannot be read. Threads  one.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::trace {

struct Counts {
    std::uint64_t images{};           // a start, a fork and an exec make one each
    std::uint64_t allocations{};      // calls that gave a block, reallocations among them
    std::uint64_t allocated_bytes{};  // asked for
    std::uint64_t live_bytes_peak{};
    std::uint64_t live_bytes_end{};
    std::uint64_t foreign_mallocs{};  // images of programs with their own malloc, whose calls are not counted
    std::uint64_t uncounted{};        // processes for which no file could be made: the counts are too low
};

// Removes what it has read. The processes have ended.
[[nodiscard]] base::Expected<Counts> take_counts(const std::string& folder);

}  // namespace memsweep::trace
