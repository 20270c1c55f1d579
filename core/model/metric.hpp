// A metric: a quantity measured in the repetitions of a case. Also the catalogue of all metrics.
//
// Units    only B, s, B/s, 1 and op/s. A value that was not measured is empty, with a reason; it is never written as 0.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class Unit : std::uint8_t { bytes, seconds, bytes_per_second, one, per_second };

template <>
inline constexpr auto name_table<Unit> = std::to_array<Named<Unit>>({
    {Unit::bytes, "B", "bytes"},
    {Unit::seconds, "s", "seconds"},
    {Unit::bytes_per_second, "B/s", "bytes per second"},
    {Unit::one, "1", "a count or a ratio"},
    {Unit::per_second, "op/s", "operations per second"},
});
enum class Better : std::uint8_t { lower, higher };

template <>
inline constexpr auto name_table<Better> = std::to_array<Named<Better>>({
    {Better::lower, "lower", "less is better"},
    {Better::higher, "higher", "more is better"},
});
enum class MetricClass : std::uint8_t { exact, noisy };  // exact: every repetition gives the same number

template <>
inline constexpr auto name_table<MetricClass> = std::to_array<Named<MetricClass>>({
    {MetricClass::exact, "exact", "a counter that repeats to the last digit"},
    {MetricClass::noisy, "noisy", "varies from repetition to repetition"},
});
enum class Provenance : std::uint8_t { measured, derived, modelled };

template <>
inline constexpr auto name_table<Provenance> = std::to_array<Named<Provenance>>({
    {Provenance::measured, "measured", "read from a clock, a counter or the kernel"},
    {Provenance::derived, "derived", "computed from measured values"},
    {Provenance::modelled, "modelled", "follows a runtime profile's rule, not an observation"},
});

// The purpose of a metric. Code that judges or shows metrics asks for their roles; it keeps no list of names.
enum class Role : std::uint8_t { headline, outcome, event, time_part, context, machine };

template <>
inline constexpr auto name_table<Role> = std::to_array<Named<Role>>({
    {Role::headline, "headline", "what a program costs as a whole: judged by every comparison, run --against too"},
    {Role::outcome, "outcome", "judged between results; run --against only shows it"},
    {Role::event, "event", "a time of one event: judged as an outcome, with room for two readings of the clock"},
    {Role::time_part, "time_part", "a part of the time of a case: shown beside the time, which is judged as a whole"},
    {Role::context, "context", "explains others, and follows what else the machine does: judged only if it is named"},
    {Role::machine, "machine", "what the machine costs, not what the case does: shown, never judged"},
});

// The kind of cases for which a metric has a column in the first table of a report.
enum class ShownAt : std::uint8_t {
    nowhere,
    time,      // all cases: a time of the whole case; only the first such metric that is present has a column
    steps,     // cases that run a scenario's own steps
    commands,  // cases that run foreign programs
    programs,  // both: cases that run steps, and cases that run foreign programs
    figures,   // cases of a probe, which measures the machine itself
};

struct Shown {
    ShownAt at{};
    std::uint8_t rank{};         // order of the columns from left to right; equal ranks: in the catalogue's order
    bool is_sampled{};           // has many samples: reports show its interval and chart it, and limits files check it
    bool by_least{};             // represented by its smallest sample instead of the median
    bool is_share{};             // shown as a percentage
    bool in_brief{};             // also shown in reports that have room for only a few metrics
    std::string_view heading{};  // empty: the metric's name
};

struct Summary {
    std::uint64_t n{};
    double min{}, max{}, mean{}, median{};
    double mad{};                  // median absolute deviation, unscaled
    std::optional<double> mdape;   // median absolute percentage error as a fraction; absent if the median is 0
    std::optional<double> stddev;  // absent if there is only one value
    std::optional<std::array<double, 2>> ci95;  // of the median, by order statistics; absent below 6 values
    std::optional<double> p05, p95;             // absent below 20 values
    std::uint64_t outliers{};  // number of values further than 5 x 1.4826 x MAD from the median; no value is dropped
};

struct Metric {
    std::string name;
    Unit unit{};
    Better better{};
    MetricClass metric_class{};
    Provenance provenance{};
    std::vector<std::optional<double>> values;  // one per repetition
    std::optional<Summary> summary;             // of the values that are not empty; absent if all are empty
    std::string reason;                         // why values are empty
};

struct MetricInfo {
    std::string_view name;
    Unit unit;
    Better better;
    MetricClass metric_class;
    Provenance provenance;
    Role role;
    std::string_view meaning;
    Shown shown{};
};

[[nodiscard]] std::span<const MetricInfo> metric_catalog();  // metrics of a whole repetition
[[nodiscard]] std::span<const MetricInfo> point_catalog();   // metrics of a named point
// nullptr: the catalogue has no metric with this name.
[[nodiscard]] const MetricInfo* find_metric(std::span<const MetricInfo> catalog, std::string_view name);

// The role of a metric of a whole repetition. Names that the catalogue lacks get Role::outcome: they come from a later
// version, or from a named point.
[[nodiscard]] Role role_of(std::string_view metric);
[[nodiscard]] Shown shown_of(std::string_view metric);  // ShownAt::nowhere if the catalogue lacks the metric

// Returns the metrics of the catalogue that are shown at any of `places`, in the order of their columns.
[[nodiscard]] std::vector<const MetricInfo*> shown_at(std::initializer_list<ShownAt> places);

// Returns the metric's heading or, if it has none, its name with blanks for underscores, as in "working set peak".
[[nodiscard]] std::string heading_of(const MetricInfo& metric);

}  // namespace memsweep::model
