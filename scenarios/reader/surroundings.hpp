// What a scenario may ask of the machine that loads it: the reserved words, the environment, and included files.
//
// Units    bytes and counts as named; 0 where the machine was not asked.
// Sources  the command line fills it from core/sys; tests and the fuzzer pass their own, so that a load is repeatable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/expected.hpp"
#include "scenarios/reader/files.hpp"
#include "scenarios/reader/trace_facts.hpp"

namespace memsweep::scenarios {

struct Surroundings {
    std::uint64_t ncpus{1};                          // ${ncpus}: processors this process may run on
    std::uint64_t page_size_bytes{4096};             // ${page_size}
    std::uint64_t memory_bytes{};                    // ${memory}: of the machine or its cgroup, whichever is less
    std::uint64_t numa_nodes{1};                     // ${numa_nodes}
    std::uint64_t devices{};                         // ${devices}: accelerators
    std::string profile_folder{"configs/runtimes"};  // where a release's "profile" is looked up by name
    std::function<std::optional<std::string>(const std::string& name)> environment{process_environment};  // ${env:NAME}
    std::function<base::Expected<std::string>(const std::string& path)> read_file{read_text_file};        // include
    std::function<base::Expected<TraceFacts>(const std::string& path)> look_at_trace{trace_facts};        // replay
};

}  // namespace memsweep::scenarios
