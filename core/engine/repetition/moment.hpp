// What a program's memory was at the moment when its work was done.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memsweep::engine {

struct Moment {
    std::uint64_t working_set_bytes{};  // 0: it was not read
    std::uint64_t anonymous_bytes{};    // what no file backs, of all its processes
    unsigned threads{1};                // most that were seen at a time; each arena of glibc's stands for one
    bool changes_user{};                // its user is another than ours
    std::vector<std::string> files;     // that the largest process has mapped
    std::string why_none;               // why it was not read
    std::uint64_t ticks{};              // when, by the clock of the stamps of traces (trace::read_clocks)
};

}  // namespace memsweep::engine
