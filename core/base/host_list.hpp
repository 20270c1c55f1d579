// Expands a list of host names in Slurm's notation: "n[001-003,007],login1" is n001, n002, n003, n007 and login1.
//
// Sources  scontrol(1), show hostnames. A name may have several brackets, anywhere.
// Errors   invalid_input: an unclosed bracket, a descending range, a name that begins with a sign or contains a blank,
//          or more than a million names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::vector<std::string>> expand_host_list(std::string_view text);

}  // namespace memsweep::base
