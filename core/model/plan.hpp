// A loaded scenario: its cases, the number and order of their repetitions, and its assertions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/assertion.hpp"
#include "core/model/command.hpp"
#include "core/model/scalar.hpp"
#include "core/model/settings.hpp"
#include "core/model/specs.hpp"
#include "core/model/step.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::model {

struct Requirements {
    std::uint64_t memory_bytes{};
    std::uint64_t numa_nodes{};
    std::uint32_t devices{};  // the number of accelerators, gpu0 and so on
    // The MPI ranks that the scenario needs, for memsweep-mpi. If it needs any, its cases consist only of transfers
    // between ranks.
    RankNeed ranks;
};

using Steps = std::vector<Step>;

// The work of a case: steps, or a foreign program.
using Work = std::variant<Steps, CommandSpec>;

// One combination of axis values of a scenario, with all values substituted.
struct Case {
    std::string id;  // scenario/axis=value/..., axes in alphabetical order
    std::string scenario;
    std::string fingerprint;    // hash of everything that defines what is measured; empty: not known
    std::vector<Param> params;  // in alphabetical order
    MemorySpec memory;
    ReleaseSpec release;
    std::string profile;  // the runtime profile that gave `release` its initial values; empty: none
    AllocatorSpec allocator;
    Work work;
    SeriesSpec series;
    Placement placement{Placement::alone};

    [[nodiscard]] const Steps& steps() const;  // empty if the case runs a program
    // nullptr if the case runs steps.
    [[nodiscard]] CommandSpec* command() { return std::get_if<CommandSpec>(&work); }
    [[nodiscard]] const CommandSpec* command() const { return std::get_if<CommandSpec>(&work); }
};

struct Plan {
    std::string name;
    std::string description;
    std::string path;         // as given on the command line
    std::string sha256;       // of the file's bytes
    std::string fingerprint;  // hash of everything that defines what is measured: see docs/result-format.md
    Settings settings;
    Requirements requirements;
    std::vector<Axis> axes;
    std::vector<Case> cases;
    std::vector<Assertion> assertions;
};

// Whether the cases run foreign programs. Either all of them do, or none does.
[[nodiscard]] bool runs_commands(const Plan& plan);

inline constexpr std::string_view placement_axis = "placement";

// The groups of cases that share a worker process, as indices into `cases` in the order of the plan. The cases of a
// group have the same placement, the same value of the axis `mode`, and the same memory, release and allocator. A case
// with Placement::alone is a group of its own.
[[nodiscard]] std::vector<std::vector<std::size_t>> sweeps(const std::vector<Case>& cases);

// An upper bound of the bytes that a case holds at any time, computed without running it. It depends on the release
// mode: arrays dropped under `finalizer` or `leak`, for instance, count until a drain or the end.
[[nodiscard]] std::uint64_t estimated_peak_bytes(const Case& plan_case);

// The upper bounds for all cases, including the memory that earlier cases in the same worker leave behind. Cases
// estimated above `budget_bytes` (0: no limit) are not run, so they leave nothing.
[[nodiscard]] std::vector<std::uint64_t> estimated_peaks_bytes(const std::vector<Case>& cases,
                                                               std::uint64_t budget_bytes);

// The bytes that a repetition writes by fills, touches, writes and results. The estimate of the repetition's duration
// needs this number.
[[nodiscard]] std::uint64_t written_bytes(const std::vector<Step>& steps);
// The time in seconds that a repetition spends idle, including ReplayStep::settle.
[[nodiscard]] double idle_seconds(const std::vector<Step>& steps);
// Whether a repetition replays a trace or transfers bytes. This takes time that written_bytes() and idle_seconds() do
// not cover.
[[nodiscard]] bool replays_or_transfers(const std::vector<Step>& steps);

// The trim mechanisms that the case's steps and its memory use, each listed once.
[[nodiscard]] std::vector<TrimHow> trims(const Case& plan_case);

// How many arrays a repetition allocates, how many calls it times one by one, and how many points it samples. A number
// that does not fit into 64 bits becomes the largest 64-bit number. Before the repetition, storage is reserved for the
// counted arrays, calls and points.
[[nodiscard]] std::uint64_t allocation_count(const std::vector<Step>& steps);
[[nodiscard]] std::uint64_t timed_call_count(const std::vector<Step>& steps);
[[nodiscard]] std::uint64_t sample_count(const std::vector<Step>& steps);

}  // namespace memsweep::model
