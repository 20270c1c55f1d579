// Names of many hosts in one text, as Slurm writes them: "n[001-003,007],login1" is n001, n002, n003, n007 and login1.
//
// Sources  scontrol(1), show hostnames; brackets may stand anywhere in a name, and several times.
// Errors   invalid_input: brackets that do not close, a range that runs backwards, a name with a sign before it or a
//          blank in it, more than a million names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::vector<std::string>> expand_host_list(std::string_view text);

}  // namespace memsweep::base
