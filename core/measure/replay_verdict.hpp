// Judges allocators, pools and release modes by replays of one trace. All report formats show the same verdict.
//
// Sources  Time is compared by time_per_event.
//          Memory is compared by resident_peak, resident_end and resident_idle, as far as all cases have them. If no
//          such metric is common to all cases, memory is compared by working_set_peak_delta.
//          Two cases count as equal in time if the 95 % intervals of their medians overlap, or if they differ by less
//          than 2 %. They count as equal in memory if the intervals overlap, or if they differ by less than 5 % or
//          256 KiB.
//          Only cases of one scenario with the same number of threads are compared. Cases on the allocator `null` are
//          left out: they have no memory.
//          Memory is not compared if a case is on a device, because no working set includes a device's memory. Nor is
//          memory compared if the live bytes of a replay may exceed those of the recording by more than 5 %
//          (live_bytes_bound).
// Errors   none. If a case has too few repetitions for an interval, the answer is too_few_repetitions.
// Ownership  a verdict points into the cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric_id.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Whether a replay allocated memory of a device, according to its parameter `on` (model::driver_memory_name).
[[nodiscard]] bool is_on_device(const model::CaseReport& replay);

inline constexpr std::string_view replay_time = model::metrics::time_per_event;

struct WeighedReplay {
    std::string name;  // the values of those parameters in which the replays differ
    const model::CaseReport* report{};
};
using WeighedReplays = std::vector<WeighedReplay>;

enum class ReplayAnswer : std::uint8_t {
    too_few_repetitions,  // a case has too few repetitions for an interval
    no_difference,        // all cases are equal in everything that was compared
    take,                 // take any of `chosen`: no other case is better in time or in memory
    none_is_best,         // every case is worse than another one in time or in memory
};

// Why memory is not compared: it is memory of a device, or the replay may have held more live bytes than the recording.
struct Unweighed {
    bool is_of_device{};
    double most_live_bytes{}, recorded_bytes{};
};

struct ReplayVerdict {
    std::string threads;  // the number of replaying threads; empty if it is the same for all replays
    WeighedReplays replays;
    std::vector<std::string_view> memory;  // the metrics by which memory is compared
    std::optional<Unweighed> unweighed;    // empty: memory is compared
    ReplayAnswer answer{};
    WeighedReplays chosen;   // answer `take`: the best; none_is_best: those in every list of `smallest`, if any
    WeighedReplays fastest;  // those equal in time to the fastest
    std::vector<WeighedReplays> smallest;  // for each metric in `memory`: those equal to the replay with the least
    const model::CaseReport* short_of{};   // answer too_few_repetitions: the case without an interval
    std::uint64_t repetitions{};           // of `short_of`
};

// Returns one verdict for each combination of scenario and number of threads that at least two replays have.
[[nodiscard]] std::vector<ReplayVerdict> replay_verdicts(std::span<const model::CaseReport> cases);

// Returns the summary of a metric, which the replay must have.
[[nodiscard]] const model::Summary& summary_of(const WeighedReplay& replay, std::string_view metric);

// least() and most() return the replay with the smallest and the largest median of the metric.
[[nodiscard]] const WeighedReplay& least(const WeighedReplays& replays, std::string_view metric);
[[nodiscard]] const WeighedReplay& most(const WeighedReplays& replays, std::string_view metric);

}  // namespace memsweep::measure
