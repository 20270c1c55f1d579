// The facts of a foreign program in a report, beside its metrics: its output, its input and processes left behind.
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/command/command_metrics.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Keeps each fact as the first repetition gave it. Returns why the repetition does not count, if the program printed
// something else than in the first; empty otherwise.
[[nodiscard]] std::string keep_facts(const model::CommandSpec& command, const CommandRecord& measured,
                                     bool has_finished, model::CaseReport& report);

// The values of a program's metrics are read as the catalogue says, and it has no points or phases.
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
