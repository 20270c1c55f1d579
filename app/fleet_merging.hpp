// `merge` over several hosts: reads one result after the other and keeps of each what a fleet needs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "core/base/expected.hpp"
#include "core/measure/fleet.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

// Reads results on all processors and passes them on in the order of their paths; false ends it.
// Memory   a few results per processor.
using TakeResult = std::function<bool(const std::string& path, base::Expected<model::RunReport> result)>;
void read_results(const std::vector<std::string>& paths, const TakeResult& take);

// Tags of hosts by name, from a table whose first line names its columns: "host,rack,switch".
using HostTags = std::map<std::string, std::map<std::string, std::string>>;
[[nodiscard]] base::Expected<HostTags> read_host_tags(const std::string& path);

// "128", or names as in "n[001-128],login1".
[[nodiscard]] base::Expected<measure::Expectation> parse_expectation(const std::string& text);

}  // namespace memsweep::app
