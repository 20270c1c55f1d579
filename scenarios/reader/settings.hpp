// Reads the parts of a scenario that all cases share: labels, settings with their includes, requirements of the
// machine, and variables. Also applies the changes that the command line makes.
//
// Errors   into Diagnostics.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/transfer.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/loader.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/source_tree.hpp"

namespace memsweep::model {
struct Case;
struct Plan;
}  // namespace memsweep::model

namespace memsweep::scenarios {

// Reads the settings of `fields` (a scenario or a settings file) into `run`, where they replace earlier ones.
void read_settings(const Fields& fields, const OptionTable<RunSettings>& table, const Reading& reading,
                   RunSettings& run);

// The number of MPI ranks that a scenario needs: 2, or "2+" for two or more.
[[nodiscard]] model::RankNeed read_ranks(const Fields& top);

using Assignments = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE as on the command line

// `node` may be null: then the scenario has no variables. Values may contain placeholders for the environment and
// reserved words. Puts the place of each override into `flags`, by the variable's name.
[[nodiscard]] Variables read_variables(const SourceNode* node, const Assignments& overrides, Sources& sources,
                                       Flags& flags, const Reading& reading);

// False: the file has another format. This was reported; report nothing else about the file.
[[nodiscard]] bool check_format(const Fields& top);

// Checks that "$schema" and "description" are strings, in a scenario or in an included file.
void check_texts(const Fields& top);

void read_labels(const Fields& top, model::Plan& plan);

void override_settings(const Overrides& overrides, RunSettings& run, Sources& sources, Diagnostics& diagnostics);

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases);

// The top levels of all included files, without `top` itself. Later ones override earlier ones.
[[nodiscard]] std::vector<const SourceNode*> included_settings(const SourceNode& top, const std::string& path,
                                                               Sources& sources, const Reading& reading);

}  // namespace memsweep::scenarios
