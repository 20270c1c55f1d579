// What NVIDIA's management library knows of links: loaded when it is there, with declarations of our own, because its
// header often is not.
//
// Sources  NVML API reference, libnvidia-ml.so.1.
// Errors   none: what cannot be asked is absent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/facts.hpp"

namespace memsweep::device::cuda {

class Nvml {
  public:
    Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    [[nodiscard]] bool is_there() const noexcept { return library_ != nullptr; }
    [[nodiscard]] std::optional<HostLink> host_link(const std::string& bus_address) const;
    // Of each NVLink that is up: the PCI address of its other end, which may be a switch.
    [[nodiscard]] std::vector<std::string> nvlinks(const std::string& bus_address) const;

  private:
    template <typename Function>
    [[nodiscard]] Function find(const char* name) const;
    [[nodiscard]] void* handle_of(const std::string& bus_address) const;

    void* library_{};
};

}  // namespace memsweep::device::cuda
