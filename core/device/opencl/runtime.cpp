#include "core/device/opencl/runtime.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/device/open.hpp"

namespace memsweep::device {
namespace opencl {

using base::ErrorCode;

OpenClRuntime::OpenClRuntime(const Library& api, std::vector<FoundDevice> found) : api_{api}, found_{std::move(found)}
{
    for (const FoundDevice& one : found_) {
        facts_.push_back(one.facts);
        platforms_[one.platform].devices.push_back(one.id);
    }
}

OpenClRuntime::~OpenClRuntime()
{
    while (!latches_.empty()) {
        static_cast<void>(close(latches_.begin()->first));
    }
    while (!streams_.empty()) {
        static_cast<void>(close(streams_.begin()->first));
    }
    for (const auto& [id, event] : events_) {
        api_.release_event(event.event);
    }
    for (auto& [id, block] : blocks_) {
        dispose(block);
    }
    for (const auto& [device, queue] : service_) {
        api_.release_queue(queue);
    }
    for (const auto& [id, platform] : platforms_) {
        if (platform.program != nullptr) {
            api_.release_program(platform.program);
        }
        if (platform.context != nullptr) {
            api_.release_context(platform.context);
        }
    }
}

PeerLink OpenClRuntime::peer(std::uint32_t from, std::uint32_t to) const
{
    if (from >= found_.size() || to >= found_.size()) {
        return {.reason = "there is no such device"};
    }
    if (from == to) {
        return {.copies = true, .direct = true};
    }
    if (found_[from].platform != found_[to].platform) {
        return {.reason = "these devices have different drivers, which know nothing of each other"};
    }
    return {.copies = true, .reason = "OpenCL cannot be asked for peer access: its driver chooses the way of a copy"};
}

base::Expected<void> OpenClRuntime::set_peer_access(std::uint32_t from, std::uint32_t to, bool)
{
    const PeerLink link = peer(from, to);
    return link.direct ? base::Expected<void>{} : base::fail(ErrorCode::not_supported, link.reason);
}

std::optional<HostLink> OpenClRuntime::host_link(std::uint32_t) const
{
    return std::nullopt;
}

Holdings OpenClRuntime::holdings() const
{
    const std::lock_guard lock{mutex_};
    Holdings held{
        .blocks = blocks_.size(), .streams = streams_.size(), .events = events_.size(), .latches = latches_.size()};
    for (const auto& [id, block] : blocks_) {
        held.bytes += block.bytes;
    }
    return held;
}

base::Expected<cl_context> OpenClRuntime::context_of(std::uint32_t device)
{
    if (device >= found_.size()) {
        return base::fail(ErrorCode::invalid_input, fmt::format("there is no device {}", device));
    }
    const std::lock_guard lock{mutex_};
    Platform& platform = platforms_.at(found_[device].platform);
    if (platform.context == nullptr) {
        cl_int code = CL_SUCCESS;
        platform.context = api_.create_context(nullptr, static_cast<cl_uint>(platform.devices.size()),
                                               platform.devices.data(), nullptr, nullptr, &code);
        if (code != CL_SUCCESS) {
            platform.context = nullptr;
            return base::fail(failure("clCreateContext", code));
        }
    }
    return platform.context;
}

base::Expected<cl_command_queue> OpenClRuntime::new_queue(std::uint32_t device)
{
    return context_of(device).and_then([&](cl_context context) -> base::Expected<cl_command_queue> {
        const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
        cl_int code = CL_SUCCESS;
        cl_command_queue queue = api_.create_queue(context, found_[device].id, properties, &code);
        if (code != CL_SUCCESS) {
            return base::fail(failure("clCreateCommandQueueWithProperties", code));
        }
        return queue;
    });
}

base::Expected<cl_command_queue> OpenClRuntime::service_queue(std::uint32_t device)
{
    {
        const std::lock_guard lock{mutex_};
        if (const auto found = service_.find(device); found != service_.end()) {
            return found->second;
        }
    }
    return new_queue(device).map([&](cl_command_queue queue) {
        const std::lock_guard lock{mutex_};
        const auto [kept, is_new] = service_.emplace(device, queue);
        if (!is_new) {
            api_.release_queue(queue);  // another thread was first
        }
        return kept->second;
    });
}

}  // namespace opencl

base::Expected<std::unique_ptr<Runtime>> open_opencl()
{
    const auto api = opencl::load_library();
    if (!api) {
        return base::fail(api.error());
    }
    return opencl::find_devices(*api).map([&](std::vector<opencl::FoundDevice> found) -> std::unique_ptr<Runtime> {
        return std::make_unique<opencl::OpenClRuntime>(*api, std::move(found));
    });
}

}  // namespace memsweep::device
