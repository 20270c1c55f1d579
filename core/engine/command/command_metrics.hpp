// The metrics of foreign programs, that is, of programs that memsweep starts and measures from outside.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says. A value is nullopt if it could not be measured.
#pragma once

#include <array>
#include <span>

#include "core/engine/repetition/command_record.hpp"
#include "core/engine/repetition/metric_row.hpp"
#include "core/model/command.hpp"

namespace memsweep::engine {

using CommandRow = MetricRow<model::CommandSpec, CommandRecord>;

[[nodiscard]] std::span<const CommandRow> command_rows();

// Returns command_rows(), because every program has the same rows.
[[nodiscard]] inline std::array<std::span<const CommandRow>, 1> rows_of(const model::CommandSpec& /*subject*/)
{
    return {command_rows()};
}

}  // namespace memsweep::engine
