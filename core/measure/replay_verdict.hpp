// What replays of one trace say about allocators, pools and release modes: one verdict, for every report.
//
// Sources  time_per_event; resident_peak, resident_end and resident_idle, as far as all cases have them; for results
//          without them working_set_peak_delta. They are compared by the 95 % intervals of their medians. Cases are not
//          told apart if their intervals overlap, or if they differ by less than 2 % in time, or in memory by 5 % or
//          256 KiB. What holds least does so at every moment. Memory is not weighed if much more may be live in the
//          replay than was recorded (live_bytes_bound). Cases on `null` have no memory and are no choice. Only cases of
//          one scenario on the same number of threads are weighed against each other. Memory of a device is in no
//          working set: if a case has such memory, times alone are weighed.
// Errors   none: without an interval for each case there is no verdict, and the sentence says so.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// Whether the events of a replay were made in memory of a device, by its parameter `on` (model::driver_memory_name).
[[nodiscard]] bool is_on_device(const model::CaseReport& replay);

// Per scenario and number of threads the verdict, then the figures that it rests on; empty without replays of two
// cases. Without full stops.
[[nodiscard]] std::vector<std::string> replay_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
