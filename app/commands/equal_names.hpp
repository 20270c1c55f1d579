// Two programs are compared under names of one length. A program may keep its own path or that of its script, and then
// allocates more in a folder with a longer name, which is no change of the program.
//
// A path is lengthened by slashes that mean nothing ("base/////app"), so that it still names the same file from the
// same folder: what a program finds beside itself, what it is linked to and its base name stay as they are. What
// resolves its path sees the true one, which comparisons of exact counters allow for (core/measure/names.hpp).
//
// Sources  path_resolution(7): several slashes are one.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"

namespace memsweep::app {

// The words of both that name files, the first with the first and so on, are made equally long. So are the values of
// words like --option=PATH.
void spell_alike(std::vector<std::string>& base, std::vector<std::string>& candidate);

// Calls the two builds of a plan alike, each case with its counterpart. Fingerprints and ids stay what they are.
void call_builds_alike(model::Plan& plan);

}  // namespace memsweep::app
