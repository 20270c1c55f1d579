// What a repetition's records say, as the values of metrics.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says; empty: the records do not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine/executor.hpp"
#include "core/engine/program.hpp"
#include "core/trace/replay/call_times.hpp"

namespace memsweep::engine::values {

struct Context {
    const Program& program;
    const Outcome& outcome;
    std::uint64_t page_bytes;
    std::uint64_t huge_page_bytes;
};

using Value = std::optional<double>;

[[nodiscard]] double seconds(std::int64_t ns);
[[nodiscard]] double difference(std::uint64_t a, std::uint64_t b);
[[nodiscard]] Value per_array(double total, std::uint64_t arrays);
// The known answer: one fault per huge page, one per base page of the rest. Only while nothing was released, since
// memory used twice faults once.
[[nodiscard]] Value faults_over_expected(const Context& context);
[[nodiscard]] Value count(std::uint64_t value);
[[nodiscard]] Value nanoseconds(std::uint64_t ns);
[[nodiscard]] const transfer::TransferStatistics& moved(const Context& context);
[[nodiscard]] Value waited(const Context& context, std::uint64_t ns);
// What a discipline does not keep it asks the pool for; what neither keeps comes from the resource.
[[nodiscard]] Value pool_hit_rate(const Context& context);
[[nodiscard]] Value pool_waste(const Context& context);
[[nodiscard]] Value retained(const Context& context, std::string_view sample);
[[nodiscard]] Value realized_fragmentation(const Context& context);
// The lower edge of the step that holds the call which so large a share of the calls are no slower than.
[[nodiscard]] Value call_time(const Context& context, trace::CallKind kind, double share);
[[nodiscard]] Value fragmentation(const Context& context);
[[nodiscard]] std::uint64_t total(const Context& context, std::uint64_t SlotRecord::*field);
// As the original sweep takes it: the upper of the two middle ones where their number is even.
[[nodiscard]] Value upper_middle(std::vector<std::int64_t> times_ns);
[[nodiscard]] Value mean(const std::vector<std::int64_t>& times_ns);
[[nodiscard]] Value fault_time_of(const Context& context, std::uint64_t minor_faults, const Costs& spent);
[[nodiscard]] Value fault_time(const Context& context);
[[nodiscard]] Value other_time(const Context& context);
[[nodiscard]] Value cost(double seconds);
[[nodiscard]] Value per_second(std::uint64_t bytes, std::int64_t ns);
[[nodiscard]] Value no_value(const Context&);

}  // namespace memsweep::engine::values
