// Runtime profiles that commands make: a shipped profile whose keys are partly overridden, and the file that holds such
// a profile.
//
// Errors   invalid_input: the first mistake; `where` names the flag.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/specs.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::scenarios {

using ReleaseKeys = std::vector<std::pair<std::string, std::string>>;  // the keys of "release" with their values

// Returns the release spec of a scenario with this profile and these keys. A later key replaces an earlier one.
[[nodiscard]] base::Expected<model::ReleaseSpec> release_of(const std::string& profile, const ReleaseKeys& keys,
                                                            const std::string& flag, const Surroundings& surroundings);

struct ProfileFile {
    std::string name;
    std::string description;
    std::string inherits;
    bool verified{};
    ReleaseKeys keys;
};

// Returns the text of the file; it ends in a newline.
[[nodiscard]] std::string to_text(const ProfileFile& file);

}  // namespace memsweep::scenarios
