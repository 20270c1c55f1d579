// What happens during a run, as it happens: one line of JSON per event (NDJSON), for `--events FILE`. The code that
// sees an event names its fields; docs/result-format.md lists them.
//
// Units    times in seconds, `t` in UTC as 2026-01-31T12:00:00.000Z.
// Ownership  pure functions: the owner of the file writes the line, which ends in '\n', so that one write is one event.
#pragma once

#include <string>
#include <string_view>

#include "core/model/report.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// What every line carries beside its type.
struct EventStamp {
    std::string_view run_id;
    std::string_view t;
};

// `fields` is an object; its members follow type and stamp in their order.
[[nodiscard]] std::string event_line(std::string_view type, const EventStamp& stamp, const Json& fields);

// The fields of a warning, as they stand in a result.
[[nodiscard]] Json event_fields(const model::Warning& warning);
[[nodiscard]] Json event_fields(const model::AssertionResult& assertion);

}  // namespace memsweep::reporters
