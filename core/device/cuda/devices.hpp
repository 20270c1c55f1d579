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

// What NVIDIA's management library knows of links, clocks and nodes: loaded when it is there, with declarations of our
// own, because its header often is not.
//
// Sources  NVML API reference, libnvidia-ml.so.1.
//
// Errors   none: what cannot be asked is absent.
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
    // Those that are up.
    [[nodiscard]] std::vector<NvLink> nvlinks(const std::string& bus_address) const;
    // Sets what tells this card from another of its kind, and how it is set up.
    void identify(DeviceFacts& facts) const;

  private:
    template <typename Function>
    [[nodiscard]] Function find(const char* name) const;
    [[nodiscard]] std::optional<std::uint64_t> reasons_of(void* device) const;  // for its clocks
    [[nodiscard]] void* handle_of(const std::string& bus_address) const;

    void* library_{};
};

// Set to anything but 0, every launch of a kernel waits until the kernel is done.
inline constexpr const char* launch_blocking = "CUDA_LAUNCH_BLOCKING";

struct FoundDevice {
    DeviceFacts facts;
    bool has_managed{};
    bool has_pools{};  // stream-ordered memory
    bool can_register{};
    bool has_priorities{};  // of streams
    std::vector<NvLink> nvlinks;
};

// Links from one device straight to another; where there is none and both have links to switches, as many as the one
// that has fewer has.
struct LinksBetween {
    std::uint32_t count{};
    bool through_switch{};
};
[[nodiscard]] LinksBetween links_between(const FoundDevice& from, const FoundDevice& to);

// not_supported: no driver, one too old, or no device.
[[nodiscard]] base::Expected<int> count_devices();
[[nodiscard]] base::Expected<std::vector<FoundDevice>> describe_devices(int count, const Nvml& nvml);

// device: "cudaMalloc: cudaErrorMemoryAllocation (out of memory)"; budget where that is what it says.
[[nodiscard]] base::Error failure(const char* call, cudaError_t code);
// After a call whose failure is nobody's business: otherwise the next launch would be blamed for it.
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
