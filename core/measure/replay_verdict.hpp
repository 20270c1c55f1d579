// Judges allocators, pools and release modes by replays of one trace. The verdict is a value, the same for every
// report.
//
// Sources  time_per_event; resident_peak, resident_end and resident_idle, as far as all cases have them; for results
//          without them working_set_peak_delta. They are compared by the 95 % intervals of their medians. Cases are not
//          told apart if their intervals overlap, or if they differ by less than 2 % in time, or in memory by less than
//          5 % or 256 KiB. A case holds least if it does so at every moment. Memory is not weighed if much more may be
//          live in the replay than was recorded (live_bytes_bound). Cases on `null` have no memory and are no choice.
//          Only cases of one scenario on the same number of threads are weighed against each other. Memory of a device
//          is in no working set: if a case has such memory, times alone are weighed.
// Errors   none: if a case has no interval, there is no verdict, and the answer says so.
// Ownership  points into the cases.
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

// Whether the events of a replay were made in memory of a device, by its parameter `on` (model::driver_memory_name).
[[nodiscard]] bool is_on_device(const model::CaseReport& replay);

inline constexpr std::string_view replay_time = model::metrics::time_per_event;

struct WeighedReplay {
    std::string name;  // by the parameters in which the replays differ
    const model::CaseReport* report{};
};
using WeighedReplays = std::vector<WeighedReplay>;

enum class ReplayAnswer : std::uint8_t {
    too_few_repetitions,  // one case has no interval
    no_difference,        // between any of them, in what was weighed
    take,                 // one of those chosen: no other is shown to be better at anything
    none_is_best,
};

// Why memory is not weighed: it is a device's, or more may have been live than was recorded.
struct Unweighed {
    bool is_of_device{};
    double most_live_bytes{}, recorded_bytes{};
};

struct ReplayVerdict {
    std::string threads;  // how many replayed; empty: all replays have as many
    WeighedReplays replays;
    std::vector<std::string_view> memory;  // the metrics of the moments at which all were looked at
    std::optional<Unweighed> unweighed;
    ReplayAnswer answer{};
    WeighedReplays chosen;                 // to take; if none is best, those that hold least at every moment
    WeighedReplays fastest;                // not told apart from the fastest
    std::vector<WeighedReplays> smallest;  // the same at each moment
    const model::CaseReport* short_of{};   // too_few_repetitions: the case without an interval, and its repetitions
    std::uint64_t repetitions{};
};

// Per scenario and number of threads; empty without replays of two cases.
[[nodiscard]] std::vector<ReplayVerdict> replay_verdicts(std::span<const model::CaseReport> cases);

// The metric's summary. The replay is weighed by that metric.
[[nodiscard]] const model::Summary& summary_of(const WeighedReplay& replay, std::string_view metric);

// The replay with the smallest median.
[[nodiscard]] const WeighedReplay& least(const WeighedReplays& replays, std::string_view metric);
[[nodiscard]] const WeighedReplay& most(const WeighedReplays& replays, std::string_view metric);

}  // namespace memsweep::measure
