// What a project wants of every run below its folder, in a file `memsweep.json`: where results go, and by what
// comparisons are judged. The command line overrules it.
//
//   {"format": "memsweep-project", "version": 1, "results": "bench/results", "baselines": "bench/baselines",
//    "gate": "bench/gate.json", "thresholds": {"wall_time": "5%"}}
//
// The file is the first of that name from the working folder upwards. A file in another format, such as a scenario,
// does not count.
//
// Units    paths are relative to the file's folder.
// Errors   invalid_input: not JSON, an unknown key, a value that is no text; names the file and the key.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

struct RunCommand;

struct ProjectFile {
    std::string path;
    std::string results;    // folder; empty: as without a project file
    std::string baselines;  // folder of results that runs of scenarios are compared with, SCENARIO.json each
    std::string gate;       // a file, or the name of one that ships
    std::map<std::string, std::string> thresholds;
};

// Empty: there is none.
[[nodiscard]] base::Expected<std::optional<ProjectFile>> find_project_file();

// Fills in what the command line has left open.
void apply(const ProjectFile& project, RunCommand& run);

// "results in bench/results, gate memory, wall_time 5%".
[[nodiscard]] std::string described(const ProjectFile& project);

}  // namespace memsweep::app
