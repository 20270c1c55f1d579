#include "core/device/cuda/runtime.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/device/open.hpp"

namespace memsweep::device {
namespace cuda {

using base::ErrorCode;

CudaRuntime::CudaRuntime(std::vector<FoundDevice> found, std::unique_ptr<Nvml> nvml)
    : found_{std::move(found)}, nvml_{std::move(nvml)}
{
    for (const FoundDevice& one : found_) {
        facts_.push_back(one.facts);
    }
}

CudaRuntime::~CudaRuntime()
{
    while (!latches_.empty()) {
        static_cast<void>(close(latches_.begin()->first));
    }
    while (!streams_.empty()) {
        static_cast<void>(close(streams_.begin()->first));
    }
    while (!events_.empty()) {
        static_cast<void>(close(events_.begin()->first));
    }
    while (!blocks_.empty()) {
        static_cast<void>(release(blocks_.begin()->first));
    }
}

base::Expected<void> CudaRuntime::choose(std::uint32_t device) const
{
    if (device >= found_.size()) {
        return base::fail(ErrorCode::invalid_input, fmt::format("there is no device {}", device));
    }
    return outcome("cudaSetDevice", cudaSetDevice(static_cast<int>(device)));
}

PeerLink CudaRuntime::peer(std::uint32_t from, std::uint32_t to) const
{
    if (from >= found_.size() || to >= found_.size()) {
        return {.reason = "there is no such device"};
    }
    PeerLink link{.copies = true, .direct = from == to};
    if (link.direct) {
        return link;
    }
    int can = 0;
    const cudaError_t code = cudaDeviceCanAccessPeer(&can, static_cast<int>(from), static_cast<int>(to));
    const std::lock_guard lock{mutex_};
    if (code != cudaSuccess || can == 0) {
        link.reason = code == cudaSuccess
                          ? "cudaDeviceCanAccessPeer says no: no link joins them, or the system forbids it"
                          : failure("cudaDeviceCanAccessPeer", code).message;
    } else if (!direct_.contains({from, to})) {
        link.reason = "peer access is off";
    } else {
        link.direct = true;
    }
    link.nvlinks = static_cast<std::uint32_t>(std::ranges::count(found_[from].nvlinks, found_[to].facts.bus_address));
    return link;
}

base::Expected<void> CudaRuntime::set_peer_access(std::uint32_t from, std::uint32_t to, bool on)
{
    const PeerLink link = peer(from, to);
    if (link.direct == on) {
        return {};
    }
    int can = 0;
    cudaDeviceCanAccessPeer(&can, static_cast<int>(from), static_cast<int>(to));
    if (can == 0 || from == to) {
        return base::fail(ErrorCode::not_supported, from == to ? "a device always reaches itself" : link.reason);
    }
    if (auto chosen = choose(from); !chosen) {
        return chosen;
    }
    const cudaError_t code =
        on ? cudaDeviceEnablePeerAccess(static_cast<int>(to), 0) : cudaDeviceDisablePeerAccess(static_cast<int>(to));
    const bool was_so = code == cudaErrorPeerAccessAlreadyEnabled || code == cudaErrorPeerAccessNotEnabled;
    if (was_so) {
        static_cast<void>(cudaGetLastError());
    } else if (code != cudaSuccess) {
        return base::fail(failure(on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess", code));
    }
    const std::lock_guard lock{mutex_};
    if (on) {
        direct_.insert({from, to});
    } else {
        direct_.erase({from, to});
    }
    return {};
}

std::optional<HostLink> CudaRuntime::host_link(std::uint32_t device) const
{
    return device < found_.size() ? nvml_->host_link(facts_[device].bus_address) : std::nullopt;
}

Holdings CudaRuntime::holdings() const
{
    const std::lock_guard lock{mutex_};
    Holdings held{
        .blocks = blocks_.size(), .streams = streams_.size(), .events = events_.size(), .latches = latches_.size()};
    for (const auto& [id, block] : blocks_) {
        held.bytes += block.bytes;
    }
    return held;
}

}  // namespace cuda

base::Expected<std::unique_ptr<Runtime>> open_cuda()
{
    return cuda::count_devices().and_then([](int count) {
        auto nvml = std::make_unique<cuda::Nvml>();
        return cuda::describe_devices(count, *nvml)
            .map([&](std::vector<cuda::FoundDevice> found) -> std::unique_ptr<Runtime> {
                return std::make_unique<cuda::CudaRuntime>(std::move(found), std::move(nvml));
            });
    });
}

}  // namespace memsweep::device
