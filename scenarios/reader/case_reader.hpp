// Makes the cases of a scenario: one for every combination of axis values. In each case, placeholders are replaced, and
// memory, release and steps are converted to the types of the model.
//
// Errors   into Diagnostics. If a scenario has errors, only its first max_cases_with_errors cases are checked.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/plan.hpp"
#include "scenarios/reader/axes.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/source_tree.hpp"

namespace memsweep::scenarios {

// Reads the release block of a case. Keys of inherited profiles come first, then the keys of the block's profile, then
// the block's own; a later key replaces an earlier one. A profile is a file of `format: memsweep-profile`. A scenario
// names it by its name in configs/runtimes, or by a path relative to the scenario.
//
// Cost     each profile is read and parsed only one time per load.
class ReleaseReader {
  public:
    explicit ReleaseReader(Sources& sources) : sources_{sources} {}

    // Fills the case's release and profile.
    void read(const SourceNode& node, const Reading& reading, model::Case& plan_case);

    // Reads only the keys of a profile. `place`: where the scenario names the profile.
    void read_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);

  private:
    void apply_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);
    const SourceNode* open(const std::string& name, const Place& place, const Reading& reading);
    [[nodiscard]] static std::string path_of(const std::string& name, const Place& place, const Reading& reading);

    Sources& sources_;
    std::map<std::string, const SourceNode*> opened_;  // by path; null: the file is unreadable, and this was reported
    std::vector<std::string> chain_;                   // profiles that are being applied
};

// Parameters that every transfer between ranks has besides the axes.
inline constexpr std::array<std::string_view, 5> rank_params{"from", "message", "part", "to", "transfer"};

[[nodiscard]] model::MemorySpec read_memory(const SourceNode& node, const Reading& reading);

// Says why a case with this release cannot use this memory; empty if it can.
[[nodiscard]] std::vector<std::string> memory_objections(const model::MemorySpec& memory,
                                                         const model::ReleaseSpec& release);

// Returns the allocator of a case: the value of the axis "allocator", and the settings of this allocator as environment
// variables. `node` is the block "allocators", or null.
[[nodiscard]] model::AllocatorSpec read_allocator(const SourceNode* node, const std::vector<model::Param>& params,
                                                  const Reading& reading);

// Reads the cases of a scenario. `top` is the scenario's top level; `plan` holds its name and requirements, `axes` its
// axes. `reading` has the scenario's scope; each case is read with a scope of its own, which has the values of its
// axes.
[[nodiscard]] std::vector<model::Case> read_cases(const Fields& top, const model::Plan& plan, const Axes& axes,
                                                  const model::SeriesSpec& series, Sources& sources,
                                                  const Reading& reading);

}  // namespace memsweep::scenarios
