// Finds the CUDA devices of this machine and their links, and turns failures of the CUDA runtime into errors.
//
// Cost     80 us without a driver; with a driver, the time in which cudaGetDeviceCount loads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/cuda/api.hpp"
#include "core/device/runtime.hpp"

namespace memsweep::device::MEMSWEEP_API {

// An NVLink that is up (working), and the device at its other end.
struct NvLink {
    std::string other_end;  // the PCI address of the device at the other end; empty: not known
    bool is_to_switch{};
};

// NVML, NVIDIA's management library: it knows links, clocks and NUMA nodes. It is loaded at run time if it is
// installed. We declare its functions ourselves, because its header is often not installed.
//
// Sources  NVML API reference, libnvidia-ml.so.1.
//
// Errors   none: a value that cannot be read is absent.
class Nvml {
  public:
    Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    [[nodiscard]] bool is_there() const noexcept { return library_ != nullptr; }
    [[nodiscard]] std::optional<HostLink> host_link(const std::string& bus_address) const;
    // Returns the NUMA node of the host that is nearest to the device, as the driver reports it.
    [[nodiscard]] std::optional<std::uint32_t> nearest_node(const std::string& bus_address) const;
    [[nodiscard]] std::optional<Clocks> clocks(const std::string& bus_address) const;
    [[nodiscard]] std::string driver_version() const;
    // Returns the links that are up.
    [[nodiscard]] std::vector<NvLink> nvlinks(const std::string& bus_address) const;
    // Fills in the facts that identify this card among cards of the same model, and the facts about its settings.
    void identify(DeviceFacts& facts) const;

  private:
    template <typename Function>
    [[nodiscard]] Function find(const char* name) const;
    // Returns bits that say what limits the device's clocks now.
    [[nodiscard]] std::optional<std::uint64_t> reasons_of(void* device) const;
    [[nodiscard]] void* handle_of(const std::string& bus_address) const;

    void* library_{};
};

// The environment variable that makes every kernel launch wait for the kernel's end, if it is set to anything but 0.
inline constexpr const char* launch_blocking = "CUDA_LAUNCH_BLOCKING";

struct FoundDevice {
    DeviceFacts facts;
    bool has_managed{};
    bool has_pools{};  // supports stream-ordered memory
    bool can_register{};
    bool has_priorities{};  // supports priorities of streams
    std::vector<NvLink> nvlinks;
};

// `count` is the number of direct NVLinks between two devices. If there is no direct link, it is the number of links
// that each device has to switches; if one device has fewer links to switches than the other, the smaller number.
struct LinksBetween {
    std::uint32_t count{};
    bool through_switch{};
};
[[nodiscard]] LinksBetween links_between(const FoundDevice& from, const FoundDevice& to);

// Returns the number of CUDA devices, at least 1.
//
// Errors   not_supported: there is no driver or no device, or the driver is too old.
[[nodiscard]] base::Expected<int> count_devices();
[[nodiscard]] base::Expected<std::vector<FoundDevice>> describe_devices(int count, const Nvml& nvml);

// Returns the error for a failed call: "cudaLaunchKernel: cudaErrorLaunchFailure (unspecified launch failure)". Its
// ErrorCode is `budget` if the code means out of memory, else `device`.
[[nodiscard]] base::Error failure(const char* call, cudaError_t code);
// Call this after a CUDA call whose failure does not matter; otherwise the next kernel launch would report that
// failure.
inline void forget_failure(cudaError_t code) noexcept
{
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
    }
}
[[nodiscard]] inline base::Expected<void> outcome(const char* call, cudaError_t code)
{
    return code == cudaSuccess ? base::Expected<void>{} : base::fail(failure(call, code));
}

}  // namespace memsweep::device::MEMSWEEP_API
