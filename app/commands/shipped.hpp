// Finds the files that ship with memsweep: the catalog of scenarios, gate files, limits files, runtime profiles.
#pragma once

#include <string>
#include <vector>

namespace memsweep::app {

// Finds a shipped file or folder. `relative`: its path in the source tree ("configs/gates/memory.json"). Two folders
// are searched, relative to the folder of the executable: ../share/memsweep for an installed or packed memsweep, then
// ../.. for an executable in build/PRESET of a checkout. No path is compiled in, so an installation or checkout can be
// moved. If neither folder has the file, the result is the path in ../share/memsweep, for use in messages. The working
// folder is not searched, because its owner could then replace shipped files. If `relative` also leads from the working
// folder to the file that was found, as it does at the root of memsweep's checkout, the result is `relative` itself,
// because it is shorter.
[[nodiscard]] std::string shipped(const std::string& relative);

// Returns the path of a file that is given by path or by shipped name. "churn" means the shipped
// scenarios/catalog/churn.json, even if the working folder has a file "churn". To name the latter, write "./churn".
// Anything but a shipped name is returned unchanged.
[[nodiscard]] std::string scenario_path(const std::string& argument);
[[nodiscard]] std::string gate_path(const std::string& argument);
[[nodiscard]] std::string limits_path(const std::string& argument);

// Returns the hint for an argument that is neither a file nor a shipped name: "; did you mean \"churn\"?". If no
// shipped name is similar, the hint lists all shipped names; if they are too many for a list, scenario_hint() says
// which command prints them. The hint is empty if a file of that name exists, or if the argument has a slash.
[[nodiscard]] std::string scenario_hint(const std::string& argument);
[[nodiscard]] std::string gate_hint(const std::string& argument);
[[nodiscard]] std::string limits_hint(const std::string& argument);

// Says whether the file at `path` is a scenario of the shipped catalog.
[[nodiscard]] bool is_shipped_scenario(const std::string& path);

// Returns the names of the shipped scenarios, sorted.
[[nodiscard]] std::vector<std::string> shipped_scenarios();
[[nodiscard]] std::vector<std::string> shipped_gates();
[[nodiscard]] std::vector<std::string> shipped_limits();

}  // namespace memsweep::app
