// A whole result: the run, the machine, and all measurements. `format: memsweep-result`, version 1.
//
// Units    bytes, seconds, counts; times inside a repetition are seconds since its first step.
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

// The unit of time_per_op and faults_per_op.
enum class CountedOperation : std::uint8_t { array, call };

template <>
inline constexpr auto name_table<CountedOperation> = std::to_array<Named<CountedOperation>>({
    {CountedOperation::array, "array", "allocated in the timed steps"},
    {CountedOperation::call, "call", "timed one by one"},
});

// One named instant of a repetition. Empty fields were not measured there.
struct Point {
    std::uint32_t repetition{};
    std::string name;
    double t{};
    std::optional<double> live_bytes;         // acquired minus released, exact
    std::optional<double> floating_bytes;     // live, but unreachable for the program
    std::optional<double> working_set;        // resident set, huge pages included
    std::optional<double> working_set_delta;  // against the repetition's baseline
    std::optional<double> minor_faults;       // since the repetition began
    std::optional<double> major_faults;
    std::optional<double> queue_depth;  // found unreachable, not released yet
    std::optional<double> pool_idle_bytes;
    std::optional<double> huge_page_bytes;  // AnonHugePages, against the baseline
};

// The field of a point by its metric name; nullptr for an unknown one.
[[nodiscard]] const std::optional<double>* point_field(const Point& point, std::string_view metric);

struct Phase {
    std::uint32_t repetition{};
    std::string name;
    double start{};
    double end{};
    double time{};  // spent in it: less than end - start when it was entered several times
    std::uint64_t entered{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::optional<double> fault_time;  // seconds, as the metrics of these names; empty: not measured
    std::optional<double> allocator_time;
    std::optional<double> collector_wait_time;  // empty too if nothing is waited for
};

struct Series {
    std::string name;
    Unit unit{};
    std::uint32_t repetition{};
    std::vector<double> t;
    std::vector<double> v;
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

// A mistake in the use of memory that a repetition found, by the name of the arrays.
struct Defect {
    DefectKind kind{};
    std::string target;
    std::uint32_t repetition{};
    std::uint64_t count{};
    std::uint64_t bytes{};    // leaked
    double oldest_seconds{};  // leaked: since the first was dropped
};

// "20 arrays of "a" (160 MB) were dropped and never freed, the oldest 1.2 s ago"
[[nodiscard]] std::string describe(const Defect& defect);

// The times of the calls of one kind, for blocks of some sizes, over all repetitions of a case.
struct CallTimes {
    std::string call;  // allocate, release
    std::uint64_t from_bytes{};
    std::uint64_t to_bytes{};
    std::vector<double> seconds;  // the lower edges of the steps that hold any
    std::vector<std::uint64_t> counts;
};

// The times of one kind and these sizes among all; new ones without a count if there are none.
[[nodiscard]] CallTimes& times_of(std::vector<CallTimes>& all, std::string_view call, std::uint64_t from_bytes,
                                  std::uint64_t to_bytes);

// Counts further calls in the step that begins there, to a fiftieth: the clock's steps differ by its calibration.
void add_calls(CallTimes& times, double seconds, std::uint64_t count);

// How the case's memory was released: the profile of its parameters, and whether recordings confirm it.
struct ReleaseInfo {
    std::string mode;
    std::string profile;  // empty: none
    bool modelled{};      // a rule decides when collections come
    bool verified{};      // recordings of the runtime confirm that rule
};

// The malloc of the case's worker, when the case names one.
struct AllocatorInfo {
    std::string name;
    std::string library;  // as the worker found it; empty: it has not run
    Variables environment;
    std::string format;  // statistics' format: json, xml, text; empty: the library offers none
    std::string statistics;
};

// The lengths of the names that a foreign program was given when its allocations were counted: it may keep them.
struct NameLengths {
    std::uint64_t words{};        // the program as it was called, and those of its words that are paths
    std::uint64_t paths{};        // the same, resolved
    std::uint64_t folder{};       // that it ran in
    std::uint64_t environment{};  // all its variables
};

// Facts of a foreign program: why its allocations were not counted, and why its malloc is not known.
inline constexpr std::string_view uncounted_fact = "uncounted";
inline constexpr std::string_view counted_under_fact = "counted under";  // a limit of addresses (RLIMIT_AS)
inline constexpr std::string_view unverified_allocator_fact = "allocator not verified";

struct CaseReport {
    std::string id;
    std::string scenario;
    std::string fingerprint;  // covers what it measures, without its assertions; empty: not known
    std::vector<Param> params;
    ReleaseInfo release;
    Status status{Status::ok};
    std::string reason;           // why it is not ok; empty otherwise
    std::uint32_t repetitions{};  // measured so far
    std::uint32_t planned_repetitions{};
    CountedOperation operation{CountedOperation::array};
    std::vector<Metric> metrics;
    std::vector<Point> points;
    std::vector<Phase> phases;
    std::vector<Series> series;
    std::vector<Defect> defects;
    std::vector<CallTimes> call_times;  // from replays that time every call
    AllocatorInfo allocator;
    std::vector<TrimHow> trims;        // the mechanisms that its steps or its memory use
    std::vector<Param> facts;          // findings beside the metrics: the loop chosen, the pages granted
    std::optional<NameLengths> names;  // those of a command that was counted; empty: none, or of an earlier memsweep
};

[[nodiscard]] const Metric* find_metric(const CaseReport& report, std::string_view name);

struct Warning {
    std::string code;  // kebab-case, stable
    std::string message;
    std::string hint;
};

enum class AssertionOutcome : std::uint8_t {
    failed,
    passed,
    not_evaluated,  // none of its cases was measured: neither holds nor fails
};

struct AssertionResult {
    std::string case_id;  // empty for one over several cases
    std::string expression;
    std::optional<double> actual;  // empty: nothing to judge, which fails if a case was measured
    Unit unit{Unit::one};
    AssertionOutcome outcome{AssertionOutcome::failed};
    Severity severity{Severity::fail};
    std::string reason;        // why there is no actual value
    std::vector<Param> where;  // the cases it was written for; empty: all
    bool is_limit{};           // comes from a limits file, which no scenario asserts
};

// The beginning of the reason of a case that violates a limit.
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
    std::vector<std::uint32_t> duet_processors;  // on which two programs ran at the same time; empty: one after another
    bool interrupted{true};                      // until the last write says otherwise
    std::string scenario_name, scenario_path, scenario_sha256, scenario_fingerprint;
    std::string scenario_description;
    std::vector<std::string> headline;  // metrics that reports show before all others
    std::map<std::string, std::string> overrides;
    std::map<std::string, std::string> tags;
    std::optional<LaunchPlace> placement;  // empty: in a result of an earlier memsweep
};

// The noise of a fixed computation and a fixed copy, repeated before the cases were measured. Half of all rounds lie
// closer to the median than the error. One round in twenty takes longer than the median by more than the tail. Both are
// shares of the median.
struct Canary {
    std::optional<double> compute_error;
    std::optional<double> compute_tail;
    std::optional<double> copy_error;  // empty: there was no memory to copy
    std::optional<double> copy_tail;
    std::optional<double> steal_share;  // empty: the kernel does not tell
    bool is_disturbed{};                // by other work, enough to spoil figures
};

// The times of fixed work in the rounds of a run: the pace of the machine itself. Lists of one length, in seconds.
struct MachineRounds {
    std::vector<double> compute_seconds;
    std::vector<double> copy_seconds;
    std::vector<double> fault_seconds;
    std::vector<double> release_seconds{};  // empty in a result of an earlier memsweep
};

// The costs of this machine and this harness, measured in the same run as the cases.
struct Calibration {
    // An allocate and drop of 64 bytes through the whole engine, beyond a malloc and free of as many.
    std::optional<double> harness_seconds_per_op;
    std::optional<double> clock_read_seconds;
    std::optional<double> harness_seconds_per_op_uncounted{};  // the same for cases that ask for no accounting
    // The bytes read and written from which concatenations bypassed the caches; empty: there were none.
    std::optional<std::uint64_t> streaming_from_bytes{};
    std::optional<std::uint64_t> streaming_pieces_from_bytes{};  // if results were written in pieces
    std::optional<Canary> canary{};                              // for a probe that measures something
    std::optional<MachineRounds> rounds{};
    // Measured for programs, with a program that does nothing. Its shortest run is the part of each wall_time that is
    // the program's start and its end. The second value is the time of a repetition beside that.
    std::optional<double> harness_seconds_per_run{};
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
    std::vector<SiteComparison> sites{};  // of the pairs of programs that were recorded
};

// A result before anything was measured. `started`: UTC, as RunInfo has it. The id is the start with a random number,
// so that two runs that begin in one millisecond on two hosts still differ.
[[nodiscard]] RunReport new_report(Machine machine, std::string started, std::vector<std::string> argv);

// Why times of this build are not to be quoted; empty for a release build without sanitizers.
[[nodiscard]] std::optional<Warning> build_warning(const ToolInfo& tool);

[[nodiscard]] StatusCounts count(const RunReport& report);

}  // namespace memsweep::model
