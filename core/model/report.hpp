// A complete result: the run, the machine, and all measurements. Its file format is memsweep-result, version 1.
//
// Units    bytes, seconds, counts. Moments within a repetition are in seconds since the repetition's first step began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/allocator.hpp"
#include "core/model/assertion.hpp"
#include "core/model/machine.hpp"
#include "core/model/metric.hpp"
#include "core/model/paging.hpp"
#include "core/model/scalar.hpp"
#include "core/model/settings.hpp"
#include "core/model/site_changes.hpp"

namespace memsweep::model {

enum class Status : std::uint8_t { ok, skipped, failed, error, timeout };

template <>
inline constexpr auto name_table<Status> = std::to_array<Named<Status>>({
    {Status::ok, "ok", "measured"},
    {Status::skipped, "skipped", "not tried: an unmet need, or above the memory budget"},
    {Status::failed, "failed", "an assertion, wrong data or a limit"},
    {Status::error, "error", "crashed or ran out of memory"},
    {Status::timeout, "timeout", "killed after the time allowed to a repetition"},
});

// What counts as an operation in the metrics time_per_op and faults_per_op.
enum class CountedOperation : std::uint8_t { array, call };

template <>
inline constexpr auto name_table<CountedOperation> = std::to_array<Named<CountedOperation>>({
    {CountedOperation::array, "array", "allocated in the timed steps"},
    {CountedOperation::call, "call", "timed one by one"},
});

// The values at one named moment of a repetition. Empty fields were not measured.
struct Point {
    std::uint32_t repetition{};
    std::string name;
    double t{};                               // the moment
    std::optional<double> live_bytes;         // allocated minus freed, exact
    std::optional<double> floating_bytes;     // live, but no longer reachable by the program
    std::optional<double> working_set;        // resident set, including huge pages
    std::optional<double> working_set_delta;  // working_set minus the working set before the first step (the baseline)
    std::optional<double> minor_faults;       // since the repetition began
    std::optional<double> major_faults;       // since the repetition began
    std::optional<double> queue_depth;        // arrays found unreachable but not released yet
    std::optional<double> pool_idle_bytes;
    std::optional<double> huge_page_bytes;  // AnonHugePages minus its value before the first step
};

// The field of a point by its metric name; nullptr for an unknown name.
[[nodiscard]] const std::optional<double>* point_field(const Point& point, std::string_view metric);

struct Phase {
    std::uint32_t repetition{};
    std::string name;
    double start{};
    double end{};
    double time{};            // total time within the phase: less than end - start if it was entered several times
    std::uint64_t entered{};  // how many times the phase was entered
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    // The next three mean the same as the metrics of these names; empty: not measured.
    std::optional<double> fault_time;
    std::optional<double> allocator_time;
    std::optional<double> collector_wait_time;  // also empty if the release mode never waits
};

struct Series {
    std::string name;
    Unit unit{};
    std::uint32_t repetition{};
    std::vector<double> t;  // moments
    std::vector<double> v;  // values
};

enum class DefectKind : std::uint8_t { use_after_free, double_free, aliased_free, stray_release, overrun, leak };

template <>
inline constexpr auto name_table<DefectKind> = std::to_array<Named<DefectKind>>({
    {DefectKind::use_after_free, "use_after_free", "memory was used after it had been freed"},
    {DefectKind::double_free, "double_free", "memory was freed by hand again"},
    {DefectKind::aliased_free, "aliased_free", "a free was refused because other references exist"},
    {DefectKind::stray_release, "stray_release", "a reference was released that nobody held"},
    {DefectKind::overrun, "overrun", "memory was written past its end"},
    {DefectKind::leak, "leak", "memory was dropped and nobody will free it"},
});

// A mistake in the use of memory that was found in a repetition.
struct Defect {
    DefectKind kind{};
    std::string target;  // the name of the arrays
    std::uint32_t repetition{};
    std::uint64_t count{};
    std::uint64_t bytes{};    // of a leak
    double oldest_seconds{};  // of a leak: time from the first drop to the end
};

// Returns the defect in words, such as
//   leak: 20 arrays of "a" (160 MB) dropped and never freed, the oldest 1.2 s before the end
[[nodiscard]] std::string describe(const Defect& defect);

// A histogram of the times of one kind of call, for blocks in a range of sizes, over all repetitions of a case.
struct CallTimes {
    std::string call;  // allocate, release
    std::uint64_t from_bytes{};
    std::uint64_t to_bytes{};
    std::vector<double> seconds;        // the lower edges of the histogram's bins; bins without calls are left out
    std::vector<std::uint64_t> counts;  // the number of calls in each of these bins
};

// Returns the histogram in `all` for this kind of call and these sizes. Adds an empty histogram if there is none.
[[nodiscard]] CallTimes& times_of(std::vector<CallTimes>& all, std::string_view call, std::uint64_t from_bytes,
                                  std::uint64_t to_bytes);

// Adds `count` calls to the bin that begins at `seconds`, and adds the bin if it is missing. A bin whose edge differs
// by less than 2 % counts as the same bin, because edges vary with the calibration of the clock.
void add_calls(CallTimes& times, double seconds, std::uint64_t count);

// How the case's memory was released.
struct ReleaseInfo {
    std::string mode;
    std::string profile;  // the runtime profile that its parameters came from; empty: none
    bool modelled{};      // a rule of the profile decides when collections happen
    bool verified{};      // recordings of the runtime confirm that rule
};

// The malloc of the case's worker process, if the case names one.
struct AllocatorInfo {
    std::string name;
    std::string library;  // the path of its library, as the worker found it; empty: no worker has run
    Variables environment;
    std::string format;      // of the statistics: json, xml, text; empty: the library offers none
    std::string statistics;  // as the library printed them
};

// The lengths of the texts that a foreign program got from outside while its allocations were counted. They matter
// because a program may copy them into memory.
struct NameLengths {
    std::uint64_t words{};        // the program's name as called, plus its arguments that are paths
    std::uint64_t paths{};        // the same texts as absolute paths, with links resolved
    std::uint64_t folder{};       // the working folder
    std::uint64_t environment{};  // all environment variables
};

// Names of facts of a foreign program.
inline constexpr std::string_view uncounted_fact = "uncounted";          // why its allocations were not counted
inline constexpr std::string_view counted_under_fact = "counted under";  // the limit on address space (RLIMIT_AS)
inline constexpr std::string_view unverified_allocator_fact = "allocator not verified";  // why its malloc is not known

struct CaseReport {
    std::string id;
    std::string scenario;
    std::string fingerprint;  // hash of everything that defines what is measured, not of assertions; empty: not known
    std::vector<Param> params;
    std::string command;  // the command line of a foreign program; empty: it has steps
    ReleaseInfo release;
    Status status{Status::ok};
    std::string reason;           // why the status is not ok; empty if it is
    std::uint32_t repetitions{};  // measured so far
    std::uint32_t planned_repetitions{};
    CountedOperation operation{CountedOperation::array};
    std::vector<Metric> metrics;
    std::vector<Point> points;
    std::vector<Phase> phases;
    std::vector<Series> series;
    std::vector<Defect> defects;
    std::vector<CallTimes> call_times;  // of replays that time every call
    AllocatorInfo allocator;
    std::vector<TrimHow> trims;        // the trim mechanisms that its steps or its memory use
    std::vector<Param> facts;          // findings that are not metrics, such as the chosen loop or the pages granted
    std::optional<NameLengths> names;  // of a command whose allocations were counted; earlier versions lack it
};

// nullptr: the case has no metric with this name.
[[nodiscard]] const Metric* find_metric(const CaseReport& report, std::string_view name);

struct Warning {
    std::string code;  // kebab-case, stable
    std::string message;
    std::string hint;
};

enum class AssertionOutcome : std::uint8_t {
    failed,
    passed,
    not_evaluated,  // none of its cases was measured
};

struct AssertionResult {
    std::string case_id;  // empty if it compares several cases
    std::string expression;
    std::optional<double> actual;  // empty: no value; the assertion then fails if one of its cases was measured
    Unit unit{Unit::one};
    AssertionOutcome outcome{AssertionOutcome::failed};
    Severity severity{Severity::fail};
    std::string reason;        // why there is no actual value
    std::vector<Param> where;  // it applies only to cases with all these parameters; empty: to all cases
    bool is_limit{};           // from a limits file, not from the scenario
};

// The prefix of CaseReport::reason if the case violates a limit.
inline constexpr const char* limit_violated = "limit violated: ";

struct RunInfo {
    std::string id;
    std::string started;  // UTC, 2026-01-31T12:00:00.000Z
    std::string ended;
    std::vector<std::string> argv;
    int exit_code{};
    Order order{};
    std::uint64_t seed{};
    Isolation isolation{};
    std::vector<std::uint32_t> duet_processors;  // two programs run on them at the same time; empty: in turns
    bool interrupted{true};                      // false only in the final write of the result
    std::string scenario_name, scenario_path, scenario_sha256, scenario_fingerprint;
    std::string scenario_description;
    std::vector<std::string> headline;  // metrics that reports show before all others
    std::map<std::string, std::string> overrides;
    std::map<std::string, std::string> tags;
    std::optional<LaunchPlace> placement;  // empty in results of earlier versions
};

// The noise of a fixed computation and a fixed copy, which are repeated before the cases. Half of the repetitions
// differ from the median by less than the error. One in twenty exceeds the median by more than the tail. The error and
// the tail are fractions of the median.
struct Canary {
    std::optional<double> compute_error;
    std::optional<double> compute_tail;
    std::optional<double> copy_error;  // empty: there was too little memory for the copy
    std::optional<double> copy_tail;
    std::optional<double> steal_share;  // of processor time, taken by the hypervisor; empty: not reported
    bool is_disturbed{};                // other work disturbed it enough to spoil measurements
};

// The times of fixed work in each round of a run, which show the speed of the machine itself. All lists that are not
// empty have the same length.
struct MachineRounds {
    std::vector<double> compute_seconds;
    std::vector<double> copy_seconds;
    std::vector<double> fault_seconds;
    std::vector<double> release_seconds{};  // empty in results of earlier versions
};

// The costs of this machine and of the harness, measured in the same run as the cases.
struct Calibration {
    // The time that the engine adds to a malloc and free of 64 bytes when it allocates and drops an array of 64 bytes.
    std::optional<double> harness_seconds_per_op;
    std::optional<double> clock_read_seconds;
    std::optional<double> harness_seconds_per_op_uncounted{};  // as harness_seconds_per_op, but with Accounting::off
    // Concatenations that read and write at least this many bytes in total used stores that bypass the caches. Empty:
    // no concatenation did. streaming_from_bytes is for results that are written from front to back,
    // streaming_pieces_from_bytes for results that are written in pieces.
    std::optional<std::uint64_t> streaming_from_bytes{};
    std::optional<std::uint64_t> streaming_pieces_from_bytes{};
    std::optional<Canary> canary{};  // measured only by a probe
    std::optional<MachineRounds> rounds{};
    // For foreign programs: the shortest wall_time of a program that does nothing. Every program's wall_time includes
    // about this time for starting and ending.
    std::optional<double> harness_seconds_per_run{};
    // For the same program that does nothing: the time of a whole repetition minus its wall_time.
    std::optional<double> harness_seconds_beside_run{};
};

struct StatusCounts {
    std::uint64_t cases{}, ok{}, skipped{}, failed{}, errors{}, timeouts{};
    std::uint64_t assertions_failed{}, assertions_warned{}, assertions_not_evaluated{};
};

struct RunReport {
    ToolInfo tool;
    RunInfo run;
    Machine machine;
    Calibration calibration;
    std::vector<Warning> warnings;
    std::vector<CaseReport> cases;
    std::vector<AssertionResult> assertions;
    std::vector<SiteComparison> sites{};  // one entry for each pair of programs that was recorded
};

// Makes a result in which nothing has been measured yet. `started`: UTC, in the format of RunInfo::started. The
// result's id consists of `started` and a random number, so that runs that begin in the same millisecond have different
// ids.
[[nodiscard]] RunReport new_report(Machine machine, std::string started, std::vector<std::string> argv);

// A warning that this build is too slow for measuring times; empty for a release build without sanitizers.
[[nodiscard]] std::optional<Warning> build_warning(const ToolInfo& tool);

[[nodiscard]] StatusCounts count(const RunReport& report);

}  // namespace memsweep::model
