// Measurements of devices that are not copies on a queue.
//
// Units    bytes, seconds.
//
// Sources  Loads: one work item follows a random cycle over lines of 128 bytes, none of which it meets twice within a
//          sample, so that neither caches nor what is fetched beside a line answer; the last load tells whether it
//          followed. Chains in order, as nvbandwidth's, keep a DRAM page and a translation open. Staged copies: the
//          ring of core/transfer/staged_copy.hpp, its ends made anew for each sample. Prefetches: the driver's own call
//          for managed memory.
//
// Errors   those of device::Runtime; wrong data fail the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/probe/device_cases.hpp"
#include "core/probe/probe_case.hpp"

namespace memsweep::probe {

struct DeviceTask {
    const ProbeContext& context;
    device::Runtime& runtime;
    const DeviceCase& what;
    Ends ends;
    std::uint64_t bytes{};  // that a copy of this probe moves
};

// What registering ordinary memory costs, and giving it back.
[[nodiscard]] base::Expected<void> measure_locking(const DeviceTask& task, model::CaseReport& report);

// Seconds per load of a kernel from host memory, a peer's or its own.
[[nodiscard]] base::Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report);

// Seconds per call of the runtime that is waited for: a kernel, an event, a copy there and back, or nothing.
[[nodiscard]] base::Expected<void> measure_calls(const DeviceTask& task, model::CaseReport& report);

// Sets samples of so many loads or calls each, as seconds per one of them; skips a case that has none.
void set_latencies_per_call(const std::vector<double>& seconds, std::uint64_t each_of, model::CaseReport& report);

[[nodiscard]] base::Expected<void> measure_staged(const DeviceTask& task, model::CaseReport& report);
[[nodiscard]] base::Expected<void> measure_prefetch(const DeviceTask& task, model::CaseReport& report);

// Fails the case: "wrong data in sample 3: ...".
void fail_sample(model::CaseReport& report, std::size_t sample, std::string_view what);

}  // namespace memsweep::probe
