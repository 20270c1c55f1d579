#include "scenarios/reader/catalog.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::scenarios {
namespace {

namespace fs = std::filesystem;

bool is_scenario_file(const fs::path& path)
{
    return path.extension() == ".json" || path.extension() == ".jsonc";
}

base::Expected<std::vector<std::string>> files_in(const std::string& directory)
{
    std::error_code error;
    std::vector<std::string> files;
    auto entry = fs::directory_iterator{directory, error};
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
        if (is_scenario_file(entry->path())) {
            files.push_back(entry->path().string());
        }
    }
    if (error) {
        return base::fail(base::ErrorCode::io, fmt::format("cannot list: {}", error.message()), directory);
    }
    std::sort(files.begin(), files.end());
    return files;
}

CatalogEntry read_entry(const std::string& path, const Surroundings& surroundings)
{
    CatalogEntry entry{path, fs::path{path}.stem().string(), {}, 0, {}};
    auto plan = load(path, {}, surroundings);
    if (!plan) {
        entry.errors = std::move(plan.error());
        return entry;
    }
    entry.name = std::move(plan->name);
    entry.description = std::move(plan->description);
    entry.cases = plan->cases.size();
    return entry;
}

}  // namespace

base::Expected<std::vector<CatalogEntry>> list_catalog(const std::string& directory, const Surroundings& surroundings)
{
    const auto files = files_in(directory);
    if (!files) {
        return base::fail(files.error());
    }
    std::vector<CatalogEntry> entries;
    for (const std::string& path : *files) {
        entries.push_back(read_entry(path, surroundings));
    }
    return entries;
}

}  // namespace memsweep::scenarios
