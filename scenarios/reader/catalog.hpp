// The scenarios of a folder, for `memsweep list scenarios`.
//
// Cost     loads every *.json and *.jsonc file directly in the folder.
// Errors   io: the folder cannot be read. A file that does not load is listed with its errors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::scenarios {

struct CatalogEntry {
    std::string path;
    std::string name;  // the file's stem when it does not load
    std::string description;
    std::size_t cases{};
    std::vector<base::Error> errors;  // empty when it loads
};

// In the order of their paths.
[[nodiscard]] base::Expected<std::vector<CatalogEntry>> list_catalog(const std::string& directory,
                                                                     const Surroundings& surroundings);

}  // namespace memsweep::scenarios
