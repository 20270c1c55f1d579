#include "core/engine/call_time_report.hpp"

#include <algorithm>
#include <array>

namespace memsweep::engine {
namespace {

constexpr std::array<const char*, trace::call_kinds> call_names{"allocate", "release"};

// Sizes from 2^(k-1) to 2^k - 1 make class k; class 0 holds size 0.
model::CallTimes& class_of(model::CaseReport& report, const char* call, std::size_t size_class)
{
    const std::uint64_t from = size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
    const auto found = std::ranges::find_if(
        report.call_times, [&](const model::CallTimes& one) { return one.call == call && one.from_bytes == from; });
    if (found != report.call_times.end()) {
        return *found;
    }
    return report.call_times.emplace_back(model::CallTimes{call, from, size_class == 0 ? 0 : from * 2 - 1, {}, {}});
}

// Steps of this repetition among those that the case has, by their lower edges to a tenth of a step.
void add(model::CallTimes& times, double seconds, std::uint64_t count)
{
    const auto near = std::ranges::find_if(times.seconds, [seconds](double edge) {
        return edge == seconds || (edge < seconds * 1.02 && edge > seconds * 0.98);
    });
    if (near != times.seconds.end()) {
        times.counts[static_cast<std::size_t>(near - times.seconds.begin())] += count;
        return;
    }
    const auto at = std::ranges::lower_bound(times.seconds, seconds) - times.seconds.begin();
    times.seconds.insert(times.seconds.begin() + at, seconds);
    times.counts.insert(times.counts.begin() + at, count);
}

}  // namespace

void append_call_times(const Outcome& outcome, model::CaseReport& report)
{
    if (outcome.call_counts == nullptr) {
        return;
    }
    const double seconds_per_tick = outcome.record.replay.ns_per_tick * 1e-9;
    for (std::size_t kind = 0; kind < trace::call_kinds; ++kind) {
        for (std::size_t size = 0; size < trace::call_size_classes; ++size) {
            const auto& steps = outcome.call_counts->counts[kind][size];
            for (std::size_t step = 0; step < steps.size(); ++step) {
                if (steps[step] != 0) {
                    add(class_of(report, call_names[kind], size),
                        static_cast<double>(trace::CallTimeCounts::ticks_of(step)) * seconds_per_tick, steps[step]);
                }
            }
        }
    }
}

}  // namespace memsweep::engine
