// Recordings of programs on real runtimes. Each program runs a loop that makes one native buffer after another and
// drops it. The recorders in tests/runtimes write recordings, and any other program can write them, too.
//
// A recording is CSV with a row per iteration. Three columns are read: i (the iteration), unreleased (the buffers not
// released yet) and gc0 (the collections since the process began). Rows without a collection and without a release may
// be left out. If the recording also has the columns gc1 and gc2, the runtime counts the collections of its generations
// separately. A line "# command: ..." before the header says how the program was started.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::lifetime {

struct RecordedRow {
    std::uint64_t iteration{};
    std::uint64_t unreleased{};
    std::uint64_t collections{};
};

struct Recording {
    std::string name;                  // of the file
    std::vector<std::string> command;  // empty: the file does not say
    std::vector<RecordedRow> rows;     // at least two; iterations rise, collections never fall
    bool has_generations{};            // the columns gc1 and gc2 exist
    bool counts_major_ones_twice{};    // gc1 equals gc2 in every row, as in Mono

    [[nodiscard]] std::uint64_t iterations() const { return rows.back().iteration + 1; }
    // The iterations in which collections came. An iteration with three collections is listed three times.
    [[nodiscard]] std::vector<std::uint64_t> collections() const;
    [[nodiscard]] std::uint64_t peak() const;  // most unreleased buffers at a time
};

// Errors   invalid_input: the text is not a recording; the error's `where` is "name:line".
[[nodiscard]] base::Expected<Recording> parse_recording(const std::string& name, std::string_view text);

// Keys of the "release" object of a profile, with their values as text.
using ReleaseKeys = std::vector<std::pair<std::string, std::string>>;

// What the command line of a recording tells about the runtime and the loop.
struct RecordedLoop {
    std::string profile;       // the shipped profile of this runtime; empty: the command does not tell
    bool may_be_g1{};          // a JVM without an option that chooses the collector
    ReleaseKeys runtime_keys;  // what the runtime's options set
    ReleaseKeys loop_keys;     // what the loop makes along with each array
    std::uint64_t array_bytes{1};
    std::uint64_t own_arrays{};  // arrays counted as unreleased that belong to the runtime, not to the loop
};

// Errors   invalid_input: an option that cannot be read; a loop that releases its buffers itself.
[[nodiscard]] base::Expected<RecordedLoop> recorded_loop(const Recording& recording);

}  // namespace memsweep::lifetime
