// What happens during a run, as it happens: one line of JSON per event (NDJSON), for `--events FILE`.
//
// Units    times in seconds, `t` in UTC as 2026-01-31T12:00:00.000Z.
// Errors   none: text that is not UTF-8 is repaired, a number that is not finite becomes null.
// Ownership  pure functions: whoever has the file writes the line; it ends in '\n', so that one write is one event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// What every line carries beside its type.
struct EventStamp {
    std::string_view run_id;
    std::string_view t;
};

struct RunStartEvent {
    std::string_view scenario;
    std::uint64_t cases{};
    std::uint64_t repetitions{};  // planned, of all cases together
};

struct CaseStartEvent {
    std::string_view case_id;
    std::int64_t pid{};  // of the worker: what a sampler of one's own attaches to
    std::uint32_t repetition{};
};

struct RepetitionEvent {
    std::string_view case_id;
    std::uint32_t repetition{};
    std::int64_t pid{};
    model::Status status{};
    std::optional<double> wall_time_s;  // empty when it did not finish
    std::string_view reason;            // empty when it is ok
};

struct CaseEndEvent {
    std::string_view case_id;
    model::Status status{};
    std::string_view reason;
};

[[nodiscard]] std::string run_start_event(const EventStamp& stamp, const RunStartEvent& event);
[[nodiscard]] std::string case_start_event(const EventStamp& stamp, const CaseStartEvent& event);
// Workers of a case after its first: a fresh process runs each repetition.
[[nodiscard]] std::string repetition_start_event(const EventStamp& stamp, const CaseStartEvent& event);
[[nodiscard]] std::string repetition_event(const EventStamp& stamp, const RepetitionEvent& event);
[[nodiscard]] std::string case_end_event(const EventStamp& stamp, const CaseEndEvent& event);
[[nodiscard]] std::string warning_event(const EventStamp& stamp, const model::Warning& warning);
[[nodiscard]] std::string assertion_event(const EventStamp& stamp, const model::AssertionResult& assertion);
[[nodiscard]] std::string run_end_event(const EventStamp& stamp, int exit_code);

}  // namespace memsweep::reporters
