// Recordings of a loop that makes and forgets one native buffer after another, from programs on real runtimes. The
// recorders of tests/runtimes write them, and any program can.
//
// A recording is CSV with a row per iteration, of which the columns i, unreleased and gc0 are read: the iteration, the
// buffers not released yet, and the collections since the process began. Rows may be left out if neither a collection
// nor a release comes in them. If there are columns gc1 and gc2 too, the runtime counts its generations separately. A
// line "# command: ..." before the header says how the program was started.
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
    std::string name;                  // the file's
    std::vector<std::string> command;  // empty: it does not say
    std::vector<RecordedRow> rows;     // two at least; iterations rise, collections do not fall
    bool has_generations{};            // gc1 and gc2 are there
    bool counts_major_ones_twice{};    // gc1 is gc2 in every row, as in Mono

    [[nodiscard]] std::uint64_t iterations() const { return rows.back().iteration + 1; }
    // The iterations in which collections came; an iteration with several is listed once for each.
    [[nodiscard]] std::vector<std::uint64_t> collections() const;
    [[nodiscard]] std::uint64_t peak() const;  // most unreleased buffers at a time
};

// Errors   invalid_input: no recording, `where` = "name:line".
[[nodiscard]] base::Expected<Recording> parse_recording(const std::string& name, std::string_view text);

// Keys of "release", with their values as a profile writes them.
using ReleaseKeys = std::vector<std::pair<std::string, std::string>>;

// The facts about the runtime and the loop that the command of a recording tells.
struct RecordedLoop {
    std::string profile;       // shipped, of such a runtime; empty: the command does not tell
    bool may_be_g1{};          // a JVM that was not told its collector
    ReleaseKeys runtime_keys;  // what its options set
    ReleaseKeys loop_keys;     // what the loop makes beside each array
    std::uint64_t array_bytes{1};
    std::uint64_t own_arrays{};  // that are counted as unreleased and are not the loop's
};

// Errors   invalid_input: an option that cannot be read; a loop that releases its buffers itself.
[[nodiscard]] base::Expected<RecordedLoop> recorded_loop(const Recording& recording);

}  // namespace memsweep::lifetime
