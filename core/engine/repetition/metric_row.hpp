// A metric of one kind of work: the cases that have the metric, and how a repetition's measurements give its value.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says. A value is nullopt if the repetition did not
//          measure it.
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
    std::uint64_t huge_bytes{};  // 0: the machine has no huge pages
};

// Properties of a metric. They decide its class, its provenance, and whether the metric can be absent.
struct Nature {
    bool races{};           // depends on the finalizer's thread: noisy if the steps have such a thread
    bool is_triggered{};    // depends on collections: noisy if timing decides when they run
    bool is_by_rule{};      // depends on the rules of a runtime profile: modelled if the case has a profile
    bool needs_counters{};  // absent if the case switches the allocation counters off
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
    std::string_view absent{};  // why a value can be missing; empty: it is never missing
    Nature nature{};
};

// Returns the rows unchanged. Two rows for one metric are a compile error.
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
