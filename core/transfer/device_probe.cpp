#include "core/transfer/device_probe.hpp"

namespace memsweep::transfer {

const std::vector<DeviceCase>& device_cases()
{
    static const std::vector<DeviceCase> cases{
        {"host_to_device_memcpy_ce", "pinned host memory to a device by its copy engine"},
        {"device_to_host_memcpy_ce", "a device to pinned host memory by its copy engine"},
        {"host_to_device_bidirectional_memcpy_ce", "host to device while the other direction is busy"},
        {"device_to_host_bidirectional_memcpy_ce", "device to host while the other direction is busy"},
        {"device_to_device_memcpy_read_ce", "a peer's memory read by a copy engine"},
        {"device_to_device_memcpy_write_ce", "a peer's memory written by a copy engine"},
        {"device_to_device_bidirectional_memcpy_read_ce", "both directions between peers, reading"},
        {"device_to_device_bidirectional_memcpy_write_ce", "both directions between peers, writing"},
        {"all_to_host_memcpy_ce", "every device to the host at once"},
        {"host_to_all_memcpy_ce", "the host to every device at once"},
        {"all_to_one_write_ce", "every device to one"},
        {"one_to_all_write_ce", "one device to every other"},
        {"host_to_device_memcpy_sm", "pinned host memory to a device by a kernel"},
        {"device_to_host_memcpy_sm", "a device to pinned host memory by a kernel"},
        {"device_to_device_memcpy_read_sm", "a peer's memory read by a kernel"},
        {"device_to_device_memcpy_write_sm", "a peer's memory written by a kernel"},
        {"host_device_latency_sm", "a kernel's loads of host memory"},
        {"device_to_device_latency_sm", "a kernel's loads of a peer's memory"},
        {"device_local_copy", "a device's memory copied to itself"},
        {"host_to_device_pageable", "ordinary host memory to a device"},
        {"device_to_host_pageable", "a device to ordinary host memory"},
        {"host_to_device_managed", "managed memory, moved on demand and ahead"},
        {"host_to_device_mapped", "mapped host memory read by a kernel"},
        {"host_to_device_write_combined", "write-combined host memory to a device"},
        {"host_to_device_staged", "ordinary host memory through a ring of pinned slots"},
        {"host_register_cost", "what pinning memory costs, by size"},
    };
    return cases;
}

std::vector<model::CaseReport> probe_devices()
{
    std::vector<model::CaseReport> cases;
    for (const DeviceCase& one : device_cases()) {
        model::CaseReport& report = cases.emplace_back(new_case("probe_device", {{"transfer", std::string{one.name}}}));
        set_fact(report, "meaning", std::string{one.meaning});
        skip(report, "this memsweep was built without a device backend");
    }
    return cases;
}

}  // namespace memsweep::transfer
