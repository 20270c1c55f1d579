// A measured quantity over the repetitions of a case, and the catalogue of all quantities memsweep knows.
//
// Units    only B, s, B/s, 1 and op/s. An absent value is empty with a reason, never 0.
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
enum class MetricClass : std::uint8_t { exact, noisy };  // exact: a counter that repeats to the last digit

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

// The purpose of a metric. Code that judges or shows metrics asks for it and keeps no list of names.
enum class Role : std::uint8_t { headline, outcome, event, time_part, context, machine };

template <>
inline constexpr auto name_table<Role> = std::to_array<Named<Role>>({
    {Role::headline, "headline", "what a program costs as a whole: judged by every comparison, that of rounds too"},
    {Role::outcome, "outcome", "judged between results, shown of rounds"},
    {Role::event, "event", "a time of one event: judged as an outcome, with room for two readings of the clock"},
    {Role::time_part, "time_part", "a part of the time of a case: shown beside the time, which is judged as a whole"},
    {Role::context, "context", "explains the others, and follows what else the machine does: judged where it is named"},
    {Role::machine, "machine", "what the machine costs, not what the case does: shown, never judged"},
});

// The cases whose reports show a metric first: the first table of a run has a column for it.
enum class ShownAt : std::uint8_t {
    nowhere,
    time,      // the time of a case: the first that it has
    steps,     // a scenario's own steps
    commands,  // foreign programs
    programs,  // both
    figures,   // a machine, which no program is measured on
};

struct Shown {
    ShownAt at{};
    std::uint8_t rank{};         // columns from left to right; of one rank as in the catalogue
    bool is_sampled{};           // a figure of many samples: with its interval, drawn over a sweep, held by limits
    bool by_least{};             // by the least of its samples, not by their median
    bool is_share{};             // as a percentage
    bool in_brief{};             // also where a report shows a few metrics of many
    std::string_view heading{};  // empty: its name
};

struct Summary {
    std::uint64_t n{};
    double min{}, max{}, mean{}, median{};
    double mad{};                  // median absolute deviation, unscaled
    std::optional<double> mdape;   // median absolute percentage error as a fraction; absent when the median is 0
    std::optional<double> stddev;  // absent for one value
    std::optional<std::array<double, 2>> ci95;  // the median's, by order statistics; absent below 6 values
    std::optional<double> p05, p95;             // absent below 20 values
    std::uint64_t outliers{};                   // further than 5 x 1.4826 x MAD from the median; never dropped
};

struct Metric {
    std::string name;
    Unit unit{};
    Better better{};
    MetricClass metric_class{};
    Provenance provenance{};
    std::vector<std::optional<double>> values;  // one per repetition
    std::optional<Summary> summary;             // over the present values; absent when there is none
    std::string reason;                         // why values are absent
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
[[nodiscard]] const MetricInfo* find_metric(std::span<const MetricInfo> catalog, std::string_view name);

// The role of a metric of a whole repetition, by its name. A metric that the catalogue lacks is an outcome: one of a
// later version, or one of a named point.
[[nodiscard]] Role role_of(std::string_view metric);
[[nodiscard]] Shown shown_of(std::string_view metric);  // nowhere first for a metric that the catalogue lacks

// Rows of the catalogue that are shown there, from left to right.
[[nodiscard]] std::vector<const MetricInfo*> shown_at(std::initializer_list<ShownAt> places);

// "working set peak", or its own heading.
[[nodiscard]] std::string heading_of(const MetricInfo& metric);

}  // namespace memsweep::model
