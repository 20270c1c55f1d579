// The option tables: one for each kind of object in a scenario. option_sections() lists all of them by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/settings.hpp"
#include "scenarios/reader/option_table.hpp"

namespace memsweep::model {
struct Assertion;
struct CommandSpec;
struct MemorySpec;
struct NumaSpec;
struct PoolSpec;
struct ReleaseSpec;
struct Requirements;
struct SafetySpec;
struct Step;
struct TransferJob;
struct TrimPolicy;
}  // namespace memsweep::model

namespace memsweep::scenarios {

// Settings that may stand in a scenario, or in a file that it includes.
struct RunSettings {
    model::Settings settings;
    model::SeriesSpec series;
};

// The keys of a runtime profile, except its release keys and the profile that it inherits.
struct Profile {
    bool verified{};
};

[[nodiscard]] const OptionTable<RunSettings>& scenario_table();  // the top level of a scenario
[[nodiscard]] const OptionTable<RunSettings>& settings_table();  // the top level of an included file
[[nodiscard]] const OptionTable<model::Requirements>& requires_table();
[[nodiscard]] const OptionTable<model::MemorySpec>& memory_table();
[[nodiscard]] const OptionTable<model::NumaSpec>& numa_table();
[[nodiscard]] const OptionTable<model::PoolSpec>& pool_table();
[[nodiscard]] const OptionTable<model::TrimPolicy>& memory_trim_table();
[[nodiscard]] const OptionTable<model::ReleaseSpec>& release_table();
[[nodiscard]] const OptionTable<model::SafetySpec>& safety_table();
[[nodiscard]] const OptionTable<Profile>& profile_table();  // the top level of a runtime profile
[[nodiscard]] const OptionTable<model::CommandSpec>& command_table();
[[nodiscard]] const OptionTable<model::SeriesSpec>& series_table();
[[nodiscard]] const OptionTable<model::Assertion>& assert_table();
[[nodiscard]] const OptionTable<model::Step>& step_table();             // keys that every step may have
[[nodiscard]] const OptionTable<model::TransferJob>& transfer_table();  // for each transfer of a step

[[nodiscard]] std::span<const OptionInfo> axis_range_options();
// Returns one key per allocator; the key's value is an object of settings.
[[nodiscard]] std::span<const OptionInfo> allocators_options();
// Returns the settings of this allocator. Empty: it has none.
[[nodiscard]] std::span<const OptionInfo> allocator_options(std::string_view allocator);

// Returns the keys of the operation `op`, bound to the alternative of model::Operation for this operation. Empty if the
// operation has no keys.
[[nodiscard]] std::span<const OptionInfo> operation_options(std::string_view op);

// option_sections() returns all tables of this file by name, in the order of the documentation: "scenario", "memory",
// "release", "step", "step: alloc", ...
struct OptionSection {
    std::string name;
    std::string_view meaning;
    std::span<const OptionInfo> options;
};
[[nodiscard]] std::vector<OptionSection> option_sections();

}  // namespace memsweep::scenarios
