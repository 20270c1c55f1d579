// The command line's named settings, held to the same bounds as the file's.
//
// Errors   into Diagnostics, at the flag.
#pragma once

#include "scenarios/loader.hpp"
#include "scenarios/settings.hpp"

namespace memsweep::scenarios {

void override_settings(const Overrides& overrides, model::Settings& settings, Sources& sources,
                       Diagnostics& diagnostics);

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases);

}  // namespace memsweep::scenarios
