// Two programs are compared under names of one length. A program may keep its own path or that of its script, and then
// allocates more in a folder with a longer name, which is no change of the program.
//
// A path is lengthened by slashes that mean nothing ("base/////app"), so that it still names the same file from the
// same folder. The files beside the program, its libraries and its base name stay the same. A program that resolves its
// path sees the true one; comparisons of exact counters allow for that (core/measure/names.hpp).
//
// Sources  path_resolution(7): several slashes are one.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"

namespace memsweep::app {

// Makes words of both programs that name files equally long, the first with the first and so on. Does the same for the
// values of words like --option=PATH.
void spell_alike(std::vector<std::string>& base, std::vector<std::string>& candidate);

// Gives the two builds of a plan names of one length, each case with its counterpart. Fingerprints and ids do not
// change.
void call_builds_alike(model::Plan& plan);

}  // namespace memsweep::app
