#include "app/commands/dry_run.hpp"

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/model/plan.hpp"

namespace memsweep::app {
namespace {

// Rough on purpose: a worker's start, and memory written at the pace of first touches on a small virtual machine.
constexpr double worker_seconds = 0.03;
constexpr double written_bytes_per_second = 2e9;

}  // namespace

std::string dry_run_text(const std::vector<model::Plan>& plans, std::uint64_t budget_bytes)
{
    std::string text;
    double seconds = 0;
    for (const model::Plan& plan : plans) {
        const double turns = plan.settings.repetitions + plan.settings.warmup;
        text += fmt::format("{}: {} cases, {} repetitions after {} warm-up, {} order, isolation {}\n", plan.name,
                            plan.cases.size(), plan.settings.repetitions, plan.settings.warmup,
                            name_of(plan.settings.order), name_of(plan.settings.isolation));
        const auto peaks = model::estimated_peaks_bytes(plan.cases, budget_bytes);
        for (std::size_t i = 0; i < plan.cases.size(); ++i) {
            const model::Case& one = plan.cases[i];
            const std::uint64_t peak = peaks[i];
            const std::uint64_t written = model::written_bytes(one.steps);
            const bool refused = peak > budget_bytes;
            text += fmt::format(
                "  {}: holds up to {}, writes {} per repetition{}\n", one.id, base::format_size(peak),
                base::format_size(written),
                refused ? fmt::format("; above the budget of {}, would be skipped", base::format_size(budget_bytes))
                        : "");
            seconds += refused ? 0 : turns * (worker_seconds + static_cast<double>(written) / written_bytes_per_second);
        }
    }
    return text + fmt::format("about {} in all\n", base::format_duration(seconds));
}

}  // namespace memsweep::app
