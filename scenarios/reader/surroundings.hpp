// What a scenario may use of the machine that loads it: files, the environment, the values of reserved words such as
// ${ncpus}, and facts about a trace that the scenario replays.
//
// Units    bytes and counts, as the names of the members say; memory_bytes 0: the machine was not asked.
// Sources  commands fill Surroundings from core/sys. Tests and the fuzzer pass fixed ones, so that a load is
//          repeatable.
// Cost     trace_facts() reads the trace, which takes 50 ns an event. With asked_once(), a trace is not read again for
//          every case that replays it.
// Errors   io: a file cannot be opened or read. invalid_input: a file is larger than a scenario may be. trace_facts():
//          as TraceReader::open.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/settings.hpp"

namespace memsweep::scenarios {

inline constexpr std::uint64_t max_file_bytes = 8U << 20U;

// Returns the bytes of a file; "-" is the standard input. A file of more than max_file_bytes is an error, and is not
// read further. So reading /dev/zero does not hang.
[[nodiscard]] base::Expected<std::string> read_text_file(const std::string& path);

[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

struct TraceFacts {
    std::string path;
    std::string content;  // digest of the trace's totals, sizes and lifetimes: the same for a copy under another path
    std::uint64_t events{};
    std::uint64_t threads{};
    std::uint64_t peak_live_bytes{};
    std::uint64_t bytes_allocated{};
    std::uint64_t largest_block_bytes{};
    // How a replay with ReplayTouch::recorded touches the memory of this trace.
    model::ReplayTouch touch{model::ReplayTouch::first_byte};
    bool copies{};  // the trace has reallocations or transfers
};

inline constexpr const char* touch_fact = "touch";  // name of the fact in which a trace gives its ReplayTouch

[[nodiscard]] base::Expected<TraceFacts> trace_facts(const std::string& path);

using LookAtTrace = std::function<base::Expected<TraceFacts>(const std::string& path)>;

// Makes a function that keeps the facts of each path, so that it reads a trace only one time. An error is not kept: the
// next call reads the trace again. Copies of the function share the facts.
//
// Threads  one at a time.
[[nodiscard]] LookAtTrace asked_once(LookAtTrace look);

struct Surroundings {
    std::uint64_t ncpus{1};                          // ${ncpus}: processors this process may run on
    std::uint64_t page_size_bytes{4096};             // ${page_size}
    std::uint64_t memory_bytes{};                    // ${memory}: of the machine or its cgroup, whichever is less
    std::uint64_t numa_nodes{1};                     // ${numa_nodes}
    std::uint64_t devices{};                         // ${devices}: accelerators
    std::string profile_folder{"configs/runtimes"};  // where a release's "profile" is looked up by name
    std::function<std::optional<std::string>(const std::string& name)> environment{process_environment};  // ${env:NAME}
    std::function<base::Expected<std::string>(const std::string& path)> read_file{read_text_file};        // include
    LookAtTrace look_at_trace{trace_facts};                                                               // replay
};

}  // namespace memsweep::scenarios
