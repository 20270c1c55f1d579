// A measured quantity over the repetitions of a case, and the catalogue of all quantities memsweep knows.
//
// Units    only B, s, B/s, 1 and op/s. An absent value is empty with a reason, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class Unit : std::uint8_t { bytes, seconds, bytes_per_second, one, per_second };
enum class Better : std::uint8_t { lower, higher };
enum class MetricClass : std::uint8_t { exact, noisy };  // exact: a counter that repeats to the last digit
enum class Provenance : std::uint8_t { measured, derived, modelled };

template <>
std::span<const Named<Unit>> names<Unit>();
template <>
std::span<const Named<Better>> names<Better>();
template <>
std::span<const Named<MetricClass>> names<MetricClass>();
template <>
std::span<const Named<Provenance>> names<Provenance>();

struct Summary {
    std::uint64_t n{};
    double min{}, max{}, mean{}, median{};
    double mad{};                  // median absolute deviation, unscaled
    std::optional<double> mdape;   // median absolute percentage error as a fraction; absent when the median is 0
    std::optional<double> stddev;  // absent for one value
    std::optional<std::array<double, 2>> ci95;  // of the median, by order statistics; absent below 6 values
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
    std::optional<Summary> summary;             // of the present values; absent when there is none
    std::string reason;                         // why values are absent
};

struct MetricInfo {
    std::string_view name;
    Unit unit;
    Better better;
    MetricClass metric_class;
    Provenance provenance;
    std::string_view meaning;
};

[[nodiscard]] std::span<const MetricInfo> metric_catalog();  // of a whole repetition
[[nodiscard]] std::span<const MetricInfo> point_catalog();   // of a named point
[[nodiscard]] const MetricInfo* find_metric(std::span<const MetricInfo> catalog, std::string_view name);

// Says what this machine costs rather than what the case does: shown beside a comparison, never judged by it.
[[nodiscard]] bool describes_machine(std::string_view metric);

// A part of the time of a case: shown beside a comparison, which judges the time as a whole.
[[nodiscard]] bool explains_time(std::string_view metric);

}  // namespace memsweep::model
