// A metric of one subject: which of its cases have it, and how its value is computed from a repetition's measurements.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says; empty: the measurements do not have it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/metric_id.hpp"

namespace memsweep::engine {

namespace values {

using Value = std::optional<double>;

template <typename Nanoseconds>
[[nodiscard]] double seconds(Nanoseconds ns)
{
    return static_cast<double>(ns) * 1e-9;
}

[[nodiscard]] inline double difference(std::uint64_t a, std::uint64_t b)
{
    return static_cast<double>(a) - static_cast<double>(b);
}

[[nodiscard]] inline Value per_array(double total, std::uint64_t arrays)
{
    return arrays == 0 ? Value{} : total / static_cast<double>(arrays);
}

[[nodiscard]] inline Value per_second(std::uint64_t bytes, std::int64_t ns)
{
    return ns <= 0 ? Value{} : static_cast<double>(bytes) / seconds(ns);
}

}  // namespace values

struct PageSizes {
    std::uint64_t bytes{};
    std::uint64_t huge_bytes{};  // 0: there are none
};

// Properties of steps that decide how a metric's values are to be read.
struct Nature {
    bool races{};           // with a finalizer's thread: noisy if the steps have one
    bool is_triggered{};    // by collections: noisy if time triggers them
    bool is_by_rule{};      // a runtime profile's rule decides it: modelled under one
    bool needs_counters{};  // absent if the case asks to do without
};

template <typename SubjectWork, typename SubjectMeasured>
struct MetricRow {
    using Work = SubjectWork;
    using Measured = SubjectMeasured;

    struct Context {
        const Work& work;
        const Measured& measured;
        PageSizes pages;
    };

    model::MetricId metric{};
    bool (*applies)(const Work&){};
    values::Value (*value)(const Context&){};
    std::string_view absent{};  // why a value can be missing; empty: it cannot
    Nature nature{};
};

// The rows of a table, unchanged. It does not compile if a metric has two rows.
template <typename Row, std::size_t size>
consteval std::array<Row, size> each_metric_once(const std::array<Row, size>& rows)
{
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (rows[i].metric == rows[j].metric) {
                throw "two rows for one metric";
            }
        }
    }
    return rows;
}

}  // namespace memsweep::engine
