// Where what ships with memsweep lies: the catalog, gate files, runtime profiles.
#pragma once

#include <string>
#include <vector>

namespace memsweep::app {

// A file or folder as in the source tree ("configs/gates/memory.json"): from the folder of the executable, in
// ../share/memsweep, where it is installed or packed; else in ../.., the checkout of build/PRESET. Nothing else is
// known of either, so that both can be moved. When it is in none, the path in ../share/memsweep, so that messages name
// where it belongs. The working folder is never searched: whoever filled it would decide what a shipped name runs.
// Where it is that checkout, the path is the relative one.
[[nodiscard]] std::string shipped(const std::string& relative);

// A file by its path, or by the name of one that ships: "churn" is scenarios/catalog/churn.json, also where the working
// folder has a file "churn", which is "./churn". What ships under no such name stays as it is.
[[nodiscard]] std::string scenario_path(const std::string& argument);
[[nodiscard]] std::string gate_path(const std::string& argument);

// What to say of an argument that names neither a file nor what ships: "; did you mean \"churn\"?", else what there is.
// Empty where a file of that name is there, or where it names a folder too.
[[nodiscard]] std::string scenario_hint(const std::string& argument);
[[nodiscard]] std::string gate_hint(const std::string& argument);

// Whether a file is one of the catalog's that ship.
[[nodiscard]] bool is_shipped_scenario(const std::string& path);

// The names of those that ship, sorted.
[[nodiscard]] std::vector<std::string> shipped_scenarios();
[[nodiscard]] std::vector<std::string> shipped_gates();

}  // namespace memsweep::app
