// A scenario, loaded: its cases, how often and in which order they run, and its assertions.
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
    std::uint32_t devices{};  // gpu0 and so on
    RankNeed ranks;  // memsweep-mpi's; the cases' transfers then go from rank to rank, and there are no other steps
};

using Steps = std::vector<Step>;

// The work of a case: steps, under its memory and its release, or a foreign program.
using Work = std::variant<Steps, CommandSpec>;

// One point in the space of a scenario's axes, with everything substituted.
struct Case {
    std::string id;  // scenario/axis=value/..., axes in alphabetical order
    std::string scenario;
    std::string fingerprint;    // covers what it measures; empty: not known
    std::vector<Param> params;  // in alphabetical order
    MemorySpec memory;
    ReleaseSpec release;
    std::string profile;  // whose parameters `release` began with; empty: none
    AllocatorSpec allocator;
    Work work;
    SeriesSpec series;
    Placement placement{Placement::alone};

    [[nodiscard]] const Steps& steps() const;                                         // none if it runs a program
    [[nodiscard]] CommandSpec* command() { return std::get_if<CommandSpec>(&work); }  // nullptr: it runs steps
    [[nodiscard]] const CommandSpec* command() const { return std::get_if<CommandSpec>(&work); }
};

struct Plan {
    std::string name;
    std::string description;
    std::string path;         // as given on the command line
    std::string sha256;       // over the file's bytes
    std::string fingerprint;  // covers what is measured: see docs/result-format.md
    Settings settings;
    Requirements requirements;
    std::vector<Axis> axes;
    std::vector<Case> cases;
    std::vector<Assertion> assertions;
};

// Whether its cases are foreign programs; they all are, or none is.
[[nodiscard]] bool runs_commands(const Plan& plan);

inline constexpr std::string_view placement_axis = "placement";

// The cases, by index, in the groups that share a worker, each in the order of the plan: a sweep has the cases of one
// placement, value of `mode`, memory and release; a case placed alone is a group of its own.
[[nodiscard]] std::vector<std::vector<std::size_t>> sweeps(const std::vector<Case>& cases);

// The least upper bound, known before running, of the bytes that a case holds at one time. It follows from the steps
// and the release mode: arrays dropped under `finalizer` or `leak` still count until a drain or the end.
[[nodiscard]] std::uint64_t estimated_peak_bytes(const Case& plan_case);

// The same for every case, with the memory that earlier cases of its sweep leave behind. Cases estimated above
// `budget_bytes` (0: no limit) are not run, and leave nothing.
[[nodiscard]] std::vector<std::uint64_t> estimated_peaks_bytes(const std::vector<Case>& cases,
                                                               std::uint64_t budget_bytes);

// Bytes that a repetition writes by fills, touches, writes and results; its duration grows with them.
[[nodiscard]] std::uint64_t written_bytes(const std::vector<Step>& steps);
// The time that a repetition waits, settling included.
[[nodiscard]] double idle_seconds(const std::vector<Step>& steps);
// Whether a repetition takes time beyond written_bytes() and idle_seconds().
[[nodiscard]] bool replays_or_transfers(const std::vector<Step>& steps);

// The mechanisms by which its steps and its memory trim, each once.
[[nodiscard]] std::vector<TrimHow> trims(const Case& plan_case);

// How many arrays a repetition allocates, calls it times one by one and points it samples (saturating). Storage is
// reserved for them.
[[nodiscard]] std::uint64_t allocation_count(const std::vector<Step>& steps);
[[nodiscard]] std::uint64_t timed_call_count(const std::vector<Step>& steps);
[[nodiscard]] std::uint64_t sample_count(const std::vector<Step>& steps);

}  // namespace memsweep::model
