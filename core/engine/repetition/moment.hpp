// A program's memory at the moment when its work was done.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memsweep::engine {

struct Moment {
    std::uint64_t working_set_bytes{};  // 0: it was not read
    std::uint64_t anonymous_bytes{};    // memory without a file behind it, of all its processes
    unsigned threads{1};                // the most seen at a time; each of glibc's arenas counts as one
    bool changes_user{};                // it runs as another user than ours
    std::vector<std::string> files;     // files that the largest process has mapped
    std::string why_none;               // why it was not read
    std::uint64_t ticks{};              // when, by the clock of the stamps of traces (trace::read_clocks)
};

}  // namespace memsweep::engine
