// Gives two compared programs paths of equal length. Otherwise a program that stores its own path, or its script's,
// would allocate more if its folder has a longer name. The larger allocation would look like a change of the program.
//
// The shorter path is lengthened by repeated slashes ("base/////app"). Repeated slashes do not change which file the
// path names. The program still sees the same folder, libraries and base name. A program that resolves its path gets
// the original one, so its counts may still differ. Comparisons of exact counters allow for this difference
// (core/measure/names.hpp).
//
// Sources  path_resolution(7): repeated slashes count as one.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"

namespace memsweep::app {

// Makes the file paths in both command lines equally long: the first path of one as long as the first path of the
// other, and so on. This includes paths in words like --option=PATH.
void spell_alike(std::vector<std::string>& base, std::vector<std::string>& candidate);

// Applies spell_alike() to each case of the base build and its counterpart in the candidate build. The fingerprints and
// ids of the cases stay the same.
void call_builds_alike(model::Plan& plan);

}  // namespace memsweep::app
