// A program's memory at the moment when the program has finished its work.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memsweep::engine {

struct Moment {
    std::uint64_t working_set_bytes{};  // 0: not read
    std::uint64_t anonymous_bytes{};    // memory without a file behind it, of all processes of the program
    unsigned threads{1};                // the most seen at a time, or the number of glibc's arenas if that is larger
    bool changes_user{};                // a process of the program runs as a user other than ours
    std::vector<std::string> files;     // files that the largest process has mapped
    std::string why_none;               // why the memory was not read; empty: it was read
    std::uint64_t ticks{};              // when the memory was read, on the clock of traces (trace::read_clocks)
};

}  // namespace memsweep::engine
