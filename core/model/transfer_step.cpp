#include "core/model/transfer_step.hpp"

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/model/step.hpp"

namespace memsweep::model {

template <>
std::span<const Named<Strategy>> names<Strategy>()
{
    static constexpr std::array<Named<Strategy>, 8> table{{
        {Strategy::automatic, "auto",
         "the first of the following that both ends allow; the report says which, and why"},
        {Strategy::host, "host", "a processor copies between host memory and host memory"},
        {Strategy::local, "local", "a copy within one device"},
        {Strategy::p2p, "p2p", "one copy between two devices that reach each other's memory; staged where they do not"},
        {Strategy::pinned, "pinned", "one copy between a device and host memory that its driver reads directly"},
        {Strategy::staged, "staged", "chunk by chunk through a ring of pinned slots on the host"},
        {Strategy::registered, "registered",
         "ordinary host memory made known to the driver before each copy, and given back after it"},
        {Strategy::direct, "direct", "one copy, whatever memory it is from or to: what staging is measured against"},
    }};
    return table;
}

std::uint64_t host_bytes(const TransferStep& step)
{
    using base::saturating_add;
    using base::saturating_mul;
    std::uint64_t bytes = std::min<std::uint64_t>(step.options.work_bytes, 8U << 20U);
    for (const TransferJob& job : step.jobs) {
        const std::uint64_t each = saturating_add(job.bytes, step.options.offset_bytes);
        const std::uint64_t slots = saturating_mul(step.options.slots, std::min(step.options.chunk_bytes, job.bytes));
        bytes = saturating_add(bytes, saturating_add(saturating_mul(step.options.batch ? 3 : 2, each), slots));
    }
    return bytes;
}

DeviceNeed device_need(const TransferStep& step)
{
    DeviceNeed need;
    const auto add = [&need](bool is_device, std::optional<std::uint32_t> number) {
        if (is_device) {
            need.any = true;
            need.highest = std::max(need.highest, number.value_or(0));
        }
    };
    for (const TransferJob& job : step.jobs) {
        add(job.spec.src.kind == TransferEnd::Kind::device, job.spec.src.number);
        add(job.spec.dst.kind == TransferEnd::Kind::device, job.spec.dst.number);
        add(job.spec.exe.kind != Mover::Kind::processors, job.spec.exe.number);
    }
    return need;
}

}  // namespace memsweep::model
