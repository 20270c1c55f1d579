// The file `memsweep.json` of a project sets defaults for every run below its folder: where results go, and how
// comparisons are judged. The command line overrules it.
//
//   {"format": "memsweep-project", "version": 1, "results": "bench/results", "baselines": "bench/baselines",
//    "gate": "bench/gate.json", "thresholds": {"wall_time": "5%"}}
//
// memsweep looks for the file in the working folder, then in each folder above it, and uses the first one found. A file
// of that name in another format, such as a scenario, is skipped.
//
// Units    paths are relative to the file's folder.
// Errors   invalid_input: the file is not JSON, has an unknown key, or has a value of the wrong type; the message names
//          the file and the key.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

struct RunCommand;

struct ProjectFile {
    std::string path;
    std::string results;    // folder of results; empty: not set
    std::string baselines;  // folder of baselines: SCENARIO.json for each scenario
    std::string gate;       // a gate file, or the name of a shipped one
    std::map<std::string, std::string> thresholds;
};

// Returns nullopt if there is no project file.
[[nodiscard]] base::Expected<std::optional<ProjectFile>> find_project_file();

// Fills in the options that the command line does not set.
void apply(const ProjectFile& project, RunCommand& run);

// Describes the settings in one line: "results in bench/results, gate memory, wall_time 5%".
[[nodiscard]] std::string described(const ProjectFile& project);

}  // namespace memsweep::app
