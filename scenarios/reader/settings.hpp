// The parts that are read once per scenario: its labels, settings with their includes, requirements of the machine, and
// variables; with the changes by the command line.
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

// Reads the settings of `fields` (a scenario or a settings file) over those in `run`.
void read_settings(const Fields& fields, const OptionTable<RunSettings>& table, const Reading& reading,
                   RunSettings& run);

// 2, or "2+".
[[nodiscard]] model::RankNeed read_ranks(const Fields& top);

using Assignments = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE as on the command line

// `node` may be null: a scenario without variables. The environment and the reserved words may stand in values.
// `flags`: the places of the overrides, by variable.
[[nodiscard]] Variables read_variables(const SourceNode* node, const Assignments& overrides, Sources& sources,
                                       Flags& flags, const Reading& reading);

// False if the file is something else altogether; then nothing more is reported.
[[nodiscard]] bool check_format(const Fields& top);

// "$schema" and "description" are strings, in a scenario as in an included file.
void check_texts(const Fields& top);

void read_labels(const Fields& top, model::Plan& plan);

void override_settings(const Overrides& overrides, RunSettings& run, Sources& sources, Diagnostics& diagnostics);

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases);

// The top levels of all included files, the weakest first; the including file itself is not among them.
[[nodiscard]] std::vector<const SourceNode*> included_settings(const SourceNode& top, const std::string& path,
                                                               Sources& sources, const Reading& reading);

}  // namespace memsweep::scenarios
