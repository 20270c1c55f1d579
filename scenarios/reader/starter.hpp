// Makes the scenario files that `memsweep new` writes for editing: a file that is made from a few answers, or a copy of
// another scenario. Comments in the file explain each part. These comments are the help texts of the option tables and
// of the tables of names, so they agree with what the loader accepts.
//
// Errors   mistakes in the answers are not found here. Load the text to find them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::scenarios {

struct StarterAnswers {
    std::vector<std::string> release{"refcount", "finalizer"};  // modes, as an axis
    std::vector<std::string> allocators;  // as another axis; empty: only the process's own allocator
    std::uint64_t array_bytes{1U << 20U};
    std::uint64_t times{100};  // arrays made and dropped, one after the other
    std::uint32_t repetitions{10};
    std::vector<std::uint64_t> threads;    // numbers of threads, as an axis; not empty: blocks instead of arrays
    std::vector<std::uint64_t> mix_bytes;  // sizes that live side by side; not empty: blocks instead of arrays
};

// Names in the file.
struct StarterLabels {
    std::string name;         // the scenario's name; empty for a copy, which keeps its own name
    std::string file;         // the file's name in commands
    std::string schema_path;  // where editors find the schema of scenarios
};

// Returns a scenario in which arrays are made, written and dropped in a loop, under every mode and allocator. If the
// answers have threads or a mix of sizes, threads allocate and free blocks of these sizes instead, under every
// allocator.
[[nodiscard]] std::string starter_scenario(const StarterAnswers& answers, const StarterLabels& labels);

// Returns a copy of `text`, the contents of `path`. The paths in the copy are rewritten, so that they lead to the same
// files from the folder of `labels.file`.
//
// Errors   invalid_input: `text` is no JSON object; `where` = "file:line:col".
[[nodiscard]] base::Expected<std::string> scenario_copy(const std::string& path, std::string_view text,
                                                        const StarterLabels& labels);

}  // namespace memsweep::scenarios
