#include "core/transfer/carry.hpp"

#include "core/transfer/direct_carry.hpp"
#include "core/transfer/staged_carry.hpp"

namespace memsweep::transfer {

base::Expected<std::unique_ptr<Carry>> make_carry(device::Runtime& runtime, const sys::Clock& clock,
                                                  const CarryPlan& plan, TransferStatistics& statistics)
{
    switch (plan.route.strategy) {
    case model::Strategy::host:
        return std::make_unique<HostCarry>(plan, statistics);
    case model::Strategy::staged:
        return StagedCarry::make(runtime, clock, plan, statistics);
    case model::Strategy::automatic:
    case model::Strategy::local:
    case model::Strategy::p2p:
    case model::Strategy::pinned:
    case model::Strategy::registered:
    case model::Strategy::direct:
        break;
    }
    return DirectCarry::make(runtime, clock, plan, statistics);
}

}  // namespace memsweep::transfer
