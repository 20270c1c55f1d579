#include "core/engine/driver_memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/model/driver_memory.hpp"

namespace memsweep::engine {
namespace {

// Why the case is more than the device should be asked for; empty: it is not. What other programs hold is for the
// driver to say.
std::string excess(const RunOrder& order, const device::DeviceFacts& facts, std::uint32_t number)
{
    const std::string estimate = base::format_size(static_cast<double>(order.estimate_bytes));
    if (facts.shares_host_memory) {
        if (order.memory_budget_bytes == 0 || order.estimate_bytes <= order.memory_budget_bytes) {
            return {};
        }
        return fmt::format("would hold up to {} at once, above the budget of {} (--max-memory): the memory of gpu{} is "
                           "the host's",
                           estimate, base::format_size(static_cast<double>(order.memory_budget_bytes)), number);
    }
    if (facts.memory_bytes == 0 || order.estimate_bytes <= facts.memory_bytes) {
        return {};
    }
    return fmt::format("would hold up to {} at once; gpu{} has {}", estimate, number,
                       base::format_size(static_cast<double>(facts.memory_bytes)));
}

}  // namespace

base::Expected<device::Runtime*> find_driver(const RunOrder& order, Environment environment, DeviceRecord& device)
{
    const bool from_driver = model::is_from_driver(order.memory.resource);
    if (!from_driver && order.required_devices == 0) {
        return nullptr;
    }
    const std::uint32_t number = from_driver ? order.memory.device : order.required_devices - 1;
    const std::uint32_t needed = std::max(number + 1, order.required_devices);
    if (environment.devices == nullptr) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("no device gpu{}: none were looked for", number));
    }
    device::Runtime& runtime = environment.devices->runtime();
    if (runtime.devices().size() < needed) {
        return base::fail(base::ErrorCode::not_supported,
                          runtime.devices().empty() ? fmt::format("no device gpu{}: {}", needed - 1, runtime.absence())
                                                    : fmt::format("no device gpu{}: this machine has {}", needed - 1,
                                                                  runtime.devices().size()));
    }
    const device::DeviceFacts& facts = runtime.devices()[number];
    write_text(fmt::format("gpu{}: {}, {}", number, facts.name, facts.driver), device.name);
    if (!from_driver) {
        return nullptr;
    }
    if (const auto why = runtime.lacks(number, memory::driver_kind(order.memory.resource))) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("gpu{} has no {} memory: {}", number,
                                                                      model::name_of(order.memory.resource), *why));
    }
    if (const std::string why = excess(order, facts, number); !why.empty()) {
        return base::fail(base::ErrorCode::budget, why);
    }
    return &runtime;
}

void leave_unmet(const RunRegion& region, const base::Error& error)
{
    write_text(base::describe(error), region.header->record.device.trouble);
    region.header->state.store(RunState::unmet, std::memory_order_release);
}

bool refused_by_driver(const CaseMemory& memory, RepetitionRecord& record)
{
    const bool for_memory =
        record.refused == memory::AllocStatus::out_of_memory || record.refused == memory::AllocStatus::no_device_memory;
    const std::string said = memory.runtime == nullptr ? std::string{} : memory.stack.driver_refusal();
    if (!for_memory || said.empty()) {
        return false;
    }
    write_text(said, record.device.trouble);
    return true;
}

}  // namespace memsweep::engine
