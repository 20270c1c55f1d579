// How much of a change in a program's exact counters comes from its names, and not from its work. A program that keeps
// its own path, or that of the folder it runs in, allocates more if that is longer. The same program in `base/` and in
// `pull-request/` is no regression.
//
// Units    characters; thresholds as in verdict.hpp.
// Sources  counts of one program under paths of 4 to 120 characters: C++ 6 bytes of allocations for each character,
//          node 13, perl some 30, a bash script that asks for its folder 94, python3 157, a bash script that lists its
//          folder 290 and 3 KB once; up to 25 calls more, where a text outgrows the buffer inside its string or a table
//          its size.
#pragma once

#include <cstdint>

#include "core/measure/cases.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {

// By how many characters the names differ that the two sides were given. 0 if a result says nothing of them: it has
// steps, was not counted, or is of an earlier memsweep.
[[nodiscard]] std::uint64_t names_apart(const CasePair& pair);

// What an exact counter may change by without anybody's asking for it, under names that are so far apart. Of calls it
// stays below 1 %, however far that is, but for programs of less than some 900, of which 8 are forgiven.
[[nodiscard]] Threshold threshold_under_names(const Threshold& threshold, model::Unit unit, double base_median,
                                              std::uint64_t apart);

}  // namespace memsweep::measure
