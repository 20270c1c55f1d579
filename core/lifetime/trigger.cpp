#include "core/lifetime/trigger.hpp"

#include "core/lifetime/count_triggers.hpp"
#include "core/lifetime/heap_triggers.hpp"
#include "core/lifetime/pressure_triggers.hpp"

namespace memsweep::lifetime {

std::vector<std::unique_ptr<Trigger>> make_triggers(const model::ReleaseSpec& spec)
{
    std::vector<std::unique_ptr<Trigger>> triggers;
    if (spec.collect_every != 0) {
        triggers.push_back(std::make_unique<AllocationCount>(spec.collect_every));
    }
    if (spec.managed.steady != 0 || spec.managed.large != 0) {
        triggers.push_back(std::make_unique<ManagedBudgetTrigger>(spec.managed));
    }
    if (spec.pressure.rule == model::PressureRule::coreclr) {
        triggers.push_back(std::make_unique<CoreClrPressure>(spec.pressure));
    }
    if (spec.pressure.rule == model::PressureRule::cuda && spec.pressure.capacity != 0) {
        triggers.push_back(std::make_unique<CudaPressure>(spec.pressure));
    }
    if (spec.target.initial != 0) {
        triggers.push_back(std::make_unique<HeapTargetTrigger>(spec.target));
    }
    if (spec.cycle.generation0 != 0) {
        triggers.push_back(std::make_unique<CycleCounts>(spec.cycle));
    }
    return triggers;
}

}  // namespace memsweep::lifetime
