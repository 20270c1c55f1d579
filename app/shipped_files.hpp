// Files that come with memsweep: in the checkout we stand in, else installed beside the executable.
#pragma once

#include <string>

namespace memsweep::app {

// "scenarios/catalog" as a path that can be opened; as given when it is in neither place.
[[nodiscard]] std::string shipped_path(const std::string& relative);

// A file by its path, or by the name of one that ships: "churn" is scenarios/catalog/churn.json. What names neither
// stays as it is, so that messages name what the user wrote.
[[nodiscard]] std::string scenario_path(const std::string& argument);
[[nodiscard]] std::string gate_path(const std::string& argument);

}  // namespace memsweep::app
