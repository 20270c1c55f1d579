// From axes to cases: every combination with its memory, release and steps substituted and typed.
//
// Errors   into Diagnostics. In a scenario with errors only the first max_cases_with_errors cases are checked.
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

// The release block of a case: the keys of its profile and of the profiles that it inherits, then its own. A profile
// is a file of `format: memsweep-profile`, named as in configs/runtimes or by a path relative to the scenario.
//
// Cost     each profile is read and parsed once per load.
class ReleaseReader {
  public:
    explicit ReleaseReader(Sources& sources) : sources_{sources} {}

    // Fills the case's release and profile.
    void read(const SourceNode& node, const Reading& reading, model::Case& plan_case);

    // The keys of a profile alone; `place` is where its name stands.
    void read_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);

  private:
    void apply_profile(const std::string& name, const Place& place, const Reading& reading, model::Case& plan_case);
    const SourceNode* open(const std::string& name, const Place& place, const Reading& reading);
    [[nodiscard]] static std::string path_of(const std::string& name, const Place& place, const Reading& reading);

    Sources& sources_;
    std::map<std::string, const SourceNode*> opened_;  // by path; null: unreadable, reported
    std::vector<std::string> chain_;                   // profiles that are being applied
};

// Parameters of every transfer between ranks, besides the axes.
inline constexpr std::array<std::string_view, 5> rank_params{"from", "message", "part", "to", "transfer"};

[[nodiscard]] model::MemorySpec read_memory(const SourceNode& node, const Reading& reading);

// Why memory of this kind cannot be used in this way under this release; empty if it can.
[[nodiscard]] std::vector<std::string> memory_objections(const model::MemorySpec& memory,
                                                         const model::ReleaseSpec& release);

// The allocator of a case: the value of the reserved axis, and its settings as environment variables. `node` is the
// block "allocators", or null.
[[nodiscard]] model::AllocatorSpec read_allocator(const SourceNode* node, const std::vector<model::Param>& params,
                                                  const Reading& reading);

// The cases of a scenario. `top` is its top level; `plan` and `axes` hold its name, requirements and axes. `reading` is
// that of the scenario; each case gets its own scope with its axes' values.
[[nodiscard]] std::vector<model::Case> read_cases(const Fields& top, const model::Plan& plan, const Axes& axes,
                                                  const model::SeriesSpec& series, Sources& sources,
                                                  const Reading& reading);

}  // namespace memsweep::scenarios
