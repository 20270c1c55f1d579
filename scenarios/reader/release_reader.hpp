// The release block of a case: the keys of its profile and of those that the profile inherits, then its own.
//
// A profile is a file of `format: memsweep-profile`, named as in configs/runtimes or by a path relative to the
// scenario. Errors   into Diagnostics: an unknown profile with the names there are, profiles that inherit in a circle,
// every key. Cost     each profile is read and parsed once per load.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/sources.hpp"

namespace memsweep::scenarios {

class ReleaseReader {
  public:
    explicit ReleaseReader(Sources& sources) : sources_{sources} {}

    // Fills the case's release and profile.
    void read(const Node& node, const Reading& reading, model::Case& plan_case);

    // The keys of a profile alone; `place` is where its name stands.
    void read_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);

  private:
    void apply_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);
    const Node* open(const std::string& name, const Place& place, const Reading& reading);
    [[nodiscard]] static std::string path_of(const std::string& name, const Place& place, const Reading& reading);

    Sources& sources_;
    std::map<std::string, const Node*> opened_;  // by path; null: unreadable, reported
    std::vector<std::string> chain_;             // of profiles being applied
};

}  // namespace memsweep::scenarios
