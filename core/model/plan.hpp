// A scenario, loaded: what to run, how often, in which order, and what must hold.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/scalar.hpp"
#include "core/model/specs.hpp"
#include "core/model/step.hpp"

namespace memsweep::model {

enum class Order : std::uint8_t {
    interleaved,  // repetition 1 of every case, then repetition 2 of every case, ...
    sequential,   // all repetitions of a case, then the next case
    shuffled,     // as interleaved, each round in a seeded random order
};

enum class Isolation : std::uint8_t {
    process,  // a fresh worker process per repetition
    none,     // every repetition of every case in one worker process, contaminating each other
};

template <>
std::span<const Named<Order>> names<Order>();
template <>
std::span<const Named<Isolation>> names<Isolation>();

struct Requirements {
    std::uint64_t memory_bytes{};
    std::uint64_t numa_nodes{};
    bool device{};
};

struct SeriesSpec {
    std::chrono::nanoseconds interval{};  // 0: no series
    bool working_set{};
    bool live_bytes{};
};

// One point in the space of a scenario's axes, with everything substituted.
struct Case {
    std::string id;  // scenario/axis=value/..., axes in alphabetical order
    std::string scenario;
    std::vector<Param> params;  // in alphabetical order
    MemorySpec memory;
    ReleaseSpec release;
    std::string profile;  // whose parameters `release` began with; empty: none
    std::vector<Step> steps;
    SeriesSpec series;
};

struct Settings {
    std::uint32_t repetitions{10};
    std::uint32_t warmup{1};
    std::chrono::nanoseconds timeout{std::chrono::seconds{60}};  // of one repetition
    Order order{Order::interleaved};
    std::uint64_t seed{1};
    Isolation isolation{Isolation::process};
};

struct Plan {
    std::string name;
    std::string description;
    std::string path;         // as given on the command line
    std::string sha256;       // of the file's bytes
    std::string fingerprint;  // of what is measured: see docs/result-format.md
    Settings settings;
    Requirements requirements;
    std::vector<Axis> axes;
    std::vector<Case> cases;
    std::vector<Assertion> assertions;
};

// Every combination of the axes' values, the last axis fastest, less those that match all parameters of an exclusion.
// Empty when there would be more than `limit`.
[[nodiscard]] std::optional<std::vector<std::vector<Param>>>
expand(const std::vector<Axis>& axes, const std::vector<std::vector<Param>>& exclusions, std::size_t limit);

[[nodiscard]] std::string case_id(const std::string& scenario, const std::vector<Param>& sorted_params);

// True when every parameter of `pattern` is among `params` with that value (compared as text).
[[nodiscard]] bool matches(const std::vector<Param>& params, const std::vector<Param>& pattern);

// The least upper bound known before running of the bytes a case holds at one time, from its steps and release mode:
// what is dropped under `finalizer` or `leak` still counts until a drain or the end.
[[nodiscard]] std::uint64_t estimated_peak_bytes(const Case& plan_case);

// Bytes that a repetition writes by fills, touches, writes and results: what its duration grows with.
[[nodiscard]] std::uint64_t written_bytes(const std::vector<Step>& steps);

// How many arrays a repetition allocates and how many points it samples (saturating): what storage is reserved for.
[[nodiscard]] std::uint64_t allocation_count(const std::vector<Step>& steps);
[[nodiscard]] std::uint64_t sample_count(const std::vector<Step>& steps);

}  // namespace memsweep::model
