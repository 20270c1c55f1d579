// Gives two compared programs paths of equal length. A program may store its own path or its script's, and then
// allocates more in a folder with a longer name. That is no change of the program.
//
// The shorter path is lengthened by repeated slashes ("base/////app"), which do not change the file that it names. The
// program's folder, libraries and base name stay the same. A program that resolves its path sees the original one;
// comparisons of exact counters allow for that (core/measure/names.hpp).
//
// Sources  path_resolution(7): repeated slashes count as one.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"

namespace memsweep::app {

// Makes the file paths in both command lines equally long: the first path of one with the first path of the other, and
// so on. Includes paths in words like --option=PATH.
void spell_alike(std::vector<std::string>& base, std::vector<std::string>& candidate);

// Applies spell_alike() to each case of the base build and its counterpart in the candidate build. Fingerprints and ids
// do not change.
void call_builds_alike(model::Plan& plan);

}  // namespace memsweep::app
