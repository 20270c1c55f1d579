// Reads the parts of a scenario that all cases share: labels, settings with their includes, what the scenario requires
// of the machine, and variables. Also applies the changes that the command line makes.
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

// Reads the number of MPI ranks that a scenario needs: 2, or "2+" for two or more.
[[nodiscard]] model::RankNeed read_ranks(const Fields& top);

using Assignments = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE as on the command line

// Reads the variables. `node` may be null: then the file declares no variables. A value may refer to environment
// variables (`${env:NAME}`) and to reserved words (such as `${ncpus}`), but not to other variables or to axes. If an
// override sets a variable, `flags[variable's name]` becomes the Place of its `--set` on the command line, which error
// messages show.
[[nodiscard]] Variables read_variables(const SourceNode* node, const Assignments& overrides, Sources& sources,
                                       Flags& flags, const Reading& reading);

// Checks the file's "format" and "version", and reports what is wrong. Returns false if the format is wrong; the caller
// should then report nothing more about the file. If only the version is wrong, returns true.
[[nodiscard]] bool check_format(const Fields& top);

// Checks that "$schema" and "description" are strings, in a scenario or in an included file.
void check_texts(const Fields& top);

void read_labels(const Fields& top, model::Plan& plan);

void override_settings(const Overrides& overrides, RunSettings& run, Sources& sources, Diagnostics& diagnostics);

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases);

// Returns the root node of each file that `top` includes, directly or indirectly, in the order in which their settings
// apply: those of a later file replace those of an earlier one. `top` itself is not among them.
[[nodiscard]] std::vector<const SourceNode*> included_settings(const SourceNode& top, const std::string& path,
                                                               Sources& sources, const Reading& reading);

}  // namespace memsweep::scenarios
