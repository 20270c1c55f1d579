// The rows of all subjects beside the catalogue.
#include <algorithm>
#include <array>
#include <set>

#include "core/engine/command/command_metrics.hpp"
#include "core/engine/steps/step_metrics.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using model::MetricId;

namespace {

template <typename Tables>
std::multiset<MetricId> metrics_of(const Tables& tables)
{
    std::multiset<MetricId> metrics;
    for (const auto& rows : tables) {
        for (const auto& row : rows) {
            metrics.insert(row.metric);
        }
    }
    return metrics;
}

// What memsweep probe alone measures, and memsweep-mpi: they fill their reports themselves.
constexpr std::array of_machines{MetricId::payload_bandwidth, MetricId::bus_bandwidth, MetricId::ceiling_share,
                                 MetricId::latency, MetricId::time_per_fault};

}  // namespace

TEST_CASE("a metric has one row of each subject that has it, and none of a metric of machines", "[unit]")
{
    const auto of_steps = metrics_of(engine::rows_of(engine::StepProgram{}));
    const auto of_commands = metrics_of(engine::rows_of(model::CommandSpec{}));
    for (std::size_t i = 0; i < model::metric_count; ++i) {
        const auto id = static_cast<MetricId>(i);
        CAPTURE(model::metric_catalog()[i].name);
        CHECK(of_steps.count(id) <= 1);
        CHECK(of_commands.count(id) <= 1);
        const bool is_measured = of_steps.contains(id) || of_commands.contains(id);
        CHECK(is_measured == (std::ranges::find(of_machines, id) == of_machines.end()));
    }
}
