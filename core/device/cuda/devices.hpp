// The CUDA devices of this machine and their links, and how the runtime's failures become errors.
//
// Cost     without a driver 80 us; with one, what cudaGetDeviceCount needs to load it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/cuda/api.hpp"
#include "core/device/runtime.hpp"

namespace memsweep::device::MEMSWEEP_API {

// A link that is up, and what is at its other end.
struct NvLink {
    std::string other_end;  // its PCI address; empty: not told
    bool is_to_switch{};
};

// NVIDIA's management library, which knows links, clocks and nodes. It is loaded if it is there, with declarations of
// our own, because its header often is not.
//
// Sources  NVML API reference, libnvidia-ml.so.1.
//
// Errors   none: a value that cannot be had is absent.
class Nvml {
  public:
    Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    [[nodiscard]] bool is_there() const noexcept { return library_ != nullptr; }
    [[nodiscard]] std::optional<HostLink> host_link(const std::string& bus_address) const;
    // The node of host memory that the driver calls nearest.
    [[nodiscard]] std::optional<std::uint32_t> nearest_node(const std::string& bus_address) const;
    [[nodiscard]] std::optional<Clocks> clocks(const std::string& bus_address) const;
    [[nodiscard]] std::string driver_version() const;
    // The links that are up.
    [[nodiscard]] std::vector<NvLink> nvlinks(const std::string& bus_address) const;
    // Sets the facts that tell this card from another of its kind, and the facts about its settings.
    void identify(DeviceFacts& facts) const;

  private:
    template <typename Function>
    [[nodiscard]] Function find(const char* name) const;
    [[nodiscard]] std::optional<std::uint64_t> reasons_of(void* device) const;  // for its clocks
    [[nodiscard]] void* handle_of(const std::string& bus_address) const;

    void* library_{};
};

// The variable that makes every launch of a kernel wait until the kernel is done, if it is set to anything but 0.
inline constexpr const char* launch_blocking = "CUDA_LAUNCH_BLOCKING";

struct FoundDevice {
    DeviceFacts facts;
    bool has_managed{};
    bool has_pools{};  // stream-ordered memory
    bool can_register{};
    bool has_priorities{};  // of streams
    std::vector<NvLink> nvlinks;
};

// The links from one device straight to another. If there is none and both have links to switches, the links to
// switches of the device that has fewer of them.
struct LinksBetween {
    std::uint32_t count{};
    bool through_switch{};
};
[[nodiscard]] LinksBetween links_between(const FoundDevice& from, const FoundDevice& to);

// not_supported: no driver, one too old, or no device.
[[nodiscard]] base::Expected<int> count_devices();
[[nodiscard]] base::Expected<std::vector<FoundDevice>> describe_devices(int count, const Nvml& nvml);

// device: "cudaLaunchKernel: cudaErrorLaunchFailure (unspecified launch failure)". budget: the code says that there is
// no memory.
[[nodiscard]] base::Error failure(const char* call, cudaError_t code);
// Call after a call whose failure does not matter; otherwise the next launch would be blamed for it.
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
