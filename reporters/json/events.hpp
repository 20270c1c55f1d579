// The events of a run as they happen, for `--events FILE`: one line of JSON per event (NDJSON). The code that reports
// an event names its fields; docs/result-format.md lists them.
//
// Units    times in seconds, `t` in UTC as 2026-01-31T12:00:00.000Z.
// Ownership  these functions keep nothing and write no file. Each line ends in '\n'. The owner of the file must pass
//            each line to the kernel by one write call.
#pragma once

#include <string>
#include <string_view>

#include "core/model/report.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// The fields that every line has in addition to its type.
struct EventStamp {
    std::string_view run_id;
    std::string_view t;
};

// Returns one line. `fields` is an object; its members follow the type and the stamp, in their order in `fields`.
[[nodiscard]] std::string event_line(std::string_view type, const EventStamp& stamp, const Json& fields);

// Returns the fields of a warning or an assertion. They are the same as in a result.
[[nodiscard]] Json event_fields(const model::Warning& warning);
[[nodiscard]] Json event_fields(const model::AssertionResult& assertion);

}  // namespace memsweep::reporters
