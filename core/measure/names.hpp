// Computes how much a program's exact counters may change only because names (such as paths and arguments) have other
// lengths, although the program's work is the same. A program that keeps its own path, or the path of its working
// directory, allocates more if the path is longer. Running the same program in `base/` and in `pull-request/` is no
// regression.
//
// Units    characters; thresholds as in verdict.hpp.
// Sources  counts of programs that were run under paths of 4 to 120 characters. Bytes allocated for each character: 6
//          in C++, 13 in node, some 30 in perl, 157 in python3, 94 in a bash script that asks for its folder, 290 (plus
//          3 KB, however long the path) in one that lists its folder. Calls to the allocator: up to 25 more, if a text
//          outgrows the buffer inside its string object, or a table has to grow.
#pragma once

#include <cstdint>

#include "core/measure/cases.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {

// Returns by how many characters the lengths of the two sides' names differ. Returns 0 if a result does not contain
// these lengths, because its case has steps, its allocations were not counted, or an earlier memsweep version wrote it.
[[nodiscard]] std::uint64_t names_apart(const CasePair& pair);

// Returns the threshold of an exact counter for names whose lengths differ by `apart` characters. If `apart` is 0, this
// is `threshold`, the counter's default; otherwise it is higher. For a count of calls, it allows changes of less than
// 1 % however much the lengths differ, but always a change of 8 calls.
[[nodiscard]] Threshold threshold_under_names(const Threshold& threshold, model::Unit unit, double base_median,
                                              std::uint64_t apart);

}  // namespace memsweep::measure
