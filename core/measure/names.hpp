// How much of a change in a program's exact counters comes from names, and not from the program's work. A program that
// keeps its own path, or that of the folder it runs in, allocates more if the path is longer. The same program in
// `base/` and in `pull-request/` is no regression.
//
// Units    characters; thresholds as in verdict.hpp.
// Sources  counts of one program under paths of 4 to 120 characters. Bytes allocated for each character: C++ 6, node
//          13, perl some 30, a bash script that asks for its folder 94, python3 157, a bash script that lists its
//          folder 290 and 3 KB once. Calls: up to 25 more, if a text outgrows the buffer inside its string, or a table
//          its size.
#pragma once

#include <cstdint>

#include "core/measure/cases.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {

// The number of characters by which the names of the two sides differ. 0: they do not, or a result says nothing of
// names, because it has steps, was not counted, or is of an earlier memsweep.
[[nodiscard]] std::uint64_t names_apart(const CasePair& pair);

// The default threshold of an exact counter under names that are so far apart. For calls it stays below 1 %, however
// far apart they are. Programs with fewer than some 900 calls are forgiven 8.
[[nodiscard]] Threshold threshold_under_names(const Threshold& threshold, model::Unit unit, double base_median,
                                              std::uint64_t apart);

}  // namespace memsweep::measure
