// Golden files: what a writer makes of the sample report, kept in tests/golden and read by people before it is
// committed.
#pragma once

#include <string>

namespace memsweep::reporters {

// Compares with tests/golden/NAME; with MEMSWEEP_UPDATE_GOLDEN=1 in the environment writes it instead.
void check_golden(const std::string& name, const std::string& text);

[[nodiscard]] std::string
repository_file(const std::string& path);  // the text of a file, by its path in the repository

}  // namespace memsweep::reporters
