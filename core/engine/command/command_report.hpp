// Adds to a report what is known about a foreign program besides its metrics: its output, its input, and the processes
// that it left behind.
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/command/command_metrics.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Adds facts to the report. A fact that an earlier repetition gave stays as it is. If the program's output differs from
// that of the first repetition, returns why this repetition does not count; otherwise returns an empty text.
[[nodiscard]] std::string keep_facts(const model::CommandSpec& command, const CommandRecord& measured,
                                     bool has_finished, model::CaseReport& report);

// The other functions that a subject must have (subjects.hpp). They do nothing for a program: its metrics have the
// class and the provenance of the catalog (`usual`), all of them are counted, and it has no points or phases to append.
[[nodiscard]] inline model::MetricClass class_of(const CommandRow& /*row*/, model::MetricClass usual,
                                                 const model::CommandSpec& /*command*/)
{
    return usual;
}

[[nodiscard]] inline model::Provenance provenance_of(const CommandRow& /*row*/, model::Provenance usual,
                                                     const model::CommandSpec& /*command*/)
{
    return usual;
}

[[nodiscard]] inline bool is_uncounted(const CommandRow& /*row*/, const model::CommandSpec& /*command*/)
{
    return false;
}

inline void append_details(const CommandRow::Context& /*context*/, std::uint32_t /*repetition*/,
                           model::CaseReport& /*report*/)
{
}

}  // namespace memsweep::engine
