// Finds the files that ship with memsweep: the catalog, gate files, limits of cards, runtime profiles.
#pragma once

#include <string>
#include <vector>

namespace memsweep::app {

// The path of a file or folder that is given as in the source tree ("configs/gates/memory.json"). It is searched from
// the folder of the executable: in ../share/memsweep, if memsweep is installed or packed; else in ../.., the checkout
// of build/PRESET. No path is compiled in, so an installation and a checkout can be moved. If neither has the file, the
// result is the path in ../share/memsweep, so that messages name its proper place. The working folder is never
// searched, because its owner would decide what a shipped name runs. If the working folder is that checkout, the result
// is the relative path.
[[nodiscard]] std::string shipped(const std::string& relative);

// A file by its path, or by the name of one that ships. "churn" is the shipped scenarios/catalog/churn.json, even if
// the working folder has a file "churn": that one is "./churn". A name that does not ship is returned unchanged.
[[nodiscard]] std::string scenario_path(const std::string& argument);
[[nodiscard]] std::string gate_path(const std::string& argument);
[[nodiscard]] std::string limits_path(const std::string& argument);

// The hint for an argument that names neither a file nor a shipped one: "; did you mean \"churn\"?". If no name is
// near, the hint has all names, or names the command that lists the scenarios if they are too many to read. It is empty
// if a file of that name exists, or if the argument has a slash.
[[nodiscard]] std::string scenario_hint(const std::string& argument);
[[nodiscard]] std::string gate_hint(const std::string& argument);
[[nodiscard]] std::string limits_hint(const std::string& argument);

// Whether a file belongs to the shipped catalog.
[[nodiscard]] bool is_shipped_scenario(const std::string& path);

// The names of the shipped scenarios, sorted.
[[nodiscard]] std::vector<std::string> shipped_scenarios();
[[nodiscard]] std::vector<std::string> shipped_gates();
[[nodiscard]] std::vector<std::string> shipped_limits();

}  // namespace memsweep::app
