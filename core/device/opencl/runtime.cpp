#include "core/device/opencl/runtime.hpp"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/device/open.hpp"

namespace memsweep::device {
namespace opencl {

namespace {

using base::ErrorCode;

constexpr std::size_t page_bytes = 4096;

cl_map_flags flags_of(Access access)
{
    return access == Access::read ? CL_MAP_READ : CL_MAP_WRITE_INVALIDATE_REGION;
}

bool is_a_buffer(MemoryKind kind)
{
    return kind != MemoryKind::pageable && kind != MemoryKind::managed;
}

bool stays_mapped(MemoryKind kind)
{
    return kind == MemoryKind::pinned || kind == MemoryKind::registered;
}

}  // namespace

OpenClRuntime::OpenClRuntime(const Library& api, std::vector<FoundDevice> found) : api_{api}, found_{std::move(found)}
{
    for (const FoundDevice& one : found_) {
        facts_.push_back(one.facts);
        platforms_[one.platform].devices.push_back(one.id);
    }
}

OpenClRuntime::~OpenClRuntime()
{
    close_all();
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
        return {.copies = true, .possible = true, .direct = true};
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
    cl_context context = MEMSWEEP_TRY(context_of(device));
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = api_.create_queue(context, found_[device].id, properties, &code);
    MEMSWEEP_TRY(outcome("clCreateCommandQueueWithProperties", code));
    return queue;
}

base::Expected<cl_command_queue> OpenClRuntime::service_queue(std::uint32_t device)
{
    {
        const std::lock_guard lock{mutex_};
        if (const auto found = service_.find(device); found != service_.end()) {
            return found->second;
        }
    }
    cl_command_queue queue = MEMSWEEP_TRY(new_queue(device));
    const std::lock_guard lock{mutex_};
    const auto [kept, is_new] = service_.emplace(device, queue);
    if (!is_new) {
        api_.release_queue(queue);  // another thread was first
    }
    return kept->second;
}

std::optional<std::string> OpenClRuntime::lacks(std::uint32_t device, MemoryKind kind) const
{
    if (device >= found_.size()) {
        return fmt::format("there is no device {}", device);
    }
    switch (kind) {
    case MemoryKind::write_combined:
        return "OpenCL has no write-combined host memory";
    case MemoryKind::stream_ordered:
        return "OpenCL allocates outside the order of queues";
    case MemoryKind::managed:
        if (!found_[device].has_fine_grained_svm) {
            return "this device has no fine-grained shared virtual memory";
        }
        break;
    case MemoryKind::pageable:
    case MemoryKind::pinned:
    case MemoryKind::registered:
    case MemoryKind::mapped:
    case MemoryKind::device:
        break;
    }
    return std::nullopt;
}

base::Expected<RawBlock> OpenClRuntime::allocate(const BlockRequest& request)
{
    MEMSWEEP_TRY(check(request));
    Block block{.kind = request.kind, .device = request.device, .bytes = request.bytes};
    // A driver may promise a buffer that no memory could hold, and get it at its first use.
    const std::uint64_t most = devices()[request.device].memory_bytes;
    if (request.kind == MemoryKind::device && request.bytes > most) {
        return base::fail(ErrorCode::budget, fmt::format("clCreateBuffer: the device has {}", base::format_size(most)));
    }
    const bool on_host = request.kind == MemoryKind::pinned || request.kind == MemoryKind::mapped;
    MEMSWEEP_TRY(obtain(block, CL_MEM_READ_WRITE | (on_host ? CL_MEM_ALLOC_HOST_PTR : cl_mem_flags{0}), nullptr));
    return kept(block);
}

base::Expected<RawBlock> OpenClRuntime::adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes)
{
    if (ordinary == nullptr || bytes == 0) {
        return base::fail(ErrorCode::invalid_input, "adopt: there is no memory at this address");
    }
    Block block{.kind = MemoryKind::registered, .device = device, .bytes = bytes};
    return obtain(block, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, ordinary).map([&] { return kept(block); });
}

base::Expected<void> OpenClRuntime::obtain(Block& block, cl_mem_flags flags, void* ordinary)
{
    const auto context = MEMSWEEP_TRY(context_of(block.device));
    if (!is_a_buffer(block.kind)) {
        void* const made =
            block.kind == MemoryKind::managed
                ? api_.svm_allocate(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, block.bytes, 0)
                : std::aligned_alloc(page_bytes, (block.bytes + page_bytes - 1) / page_bytes * page_bytes);
        block.host = static_cast<std::byte*>(made);
        return made != nullptr
                   ? base::Expected<void>{}
                   : base::fail(ErrorCode::budget,
                                fmt::format("{}: no memory for {} bytes",
                                            block.kind == MemoryKind::managed ? "clSVMAlloc" : "aligned_alloc",
                                            block.bytes));
    }
    cl_int code = CL_SUCCESS;
    block.buffer = api_.create_buffer(context, flags, block.bytes, ordinary, &code);
    MEMSWEEP_TRY(outcome("clCreateBuffer", code));
    if (!stays_mapped(block.kind)) {
        return {};
    }
    const auto queue = service_queue(block.device);
    void* const host = queue ? api_.map_buffer(*queue, block.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                               block.bytes, 0, nullptr, nullptr, &code)
                             : nullptr;
    if (host == nullptr || code != CL_SUCCESS) {
        api_.release_buffer(block.buffer);
        return base::fail(queue ? failure("clEnqueueMapBuffer", code) : queue.error());
    }
    block.host = static_cast<std::byte*>(host);
    return {};
}

void OpenClRuntime::dispose(Block& block)
{
    if (block.buffer != nullptr) {
        const auto queue = service_.find(block.device);
        if (block.host != nullptr && queue != service_.end()) {
            api_.unmap(queue->second, block.buffer, block.host, 0, nullptr, nullptr);
            api_.finish(queue->second);
        }
        api_.release_buffer(block.buffer);
    } else if (block.kind == MemoryKind::managed) {
        api_.svm_free(platforms_.at(found_[block.device].platform).context, block.host);
    } else {
        std::free(block.host);
    }
}

base::Expected<void> OpenClRuntime::close(MemoryId memory)
{
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) {
        return base::fail(ErrorCode::invalid_input, "there is no such block");
    }
    dispose(found->second);
    blocks_.erase(found);
    return {};
}

base::Expected<std::byte*> OpenClRuntime::map(MemoryId memory, Access access)
{
    std::unique_lock lock{mutex_};
    const auto found = blocks_.find(memory);
    if (found == blocks_.end() || found->second.kind != MemoryKind::mapped || found->second.host != nullptr) {
        return base::fail(ErrorCode::invalid_input, "map: the block is not of the kind mapped, or is mapped already");
    }
    const Block block = found->second;
    lock.unlock();
    cl_command_queue queue = MEMSWEEP_TRY(service_queue(block.device));
    cl_int code = CL_SUCCESS;
    void* const host =
        api_.map_buffer(queue, block.buffer, CL_TRUE, flags_of(access), 0, block.bytes, 0, nullptr, nullptr, &code);
    MEMSWEEP_TRY(outcome("clEnqueueMapBuffer", code));
    lock.lock();
    return blocks_.at(memory).host = static_cast<std::byte*>(host);
}

base::Expected<void> OpenClRuntime::unmap(MemoryId memory)
{
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(memory);
    if (found == blocks_.end() || found->second.kind != MemoryKind::mapped || found->second.host == nullptr) {
        return base::fail(ErrorCode::invalid_input, "unmap: the block is not mapped");
    }
    Block& block = found->second;
    cl_command_queue queue = service_.at(block.device);
    MEMSWEEP_TRY(outcome("clEnqueueUnmapMemObject", api_.unmap(queue, block.buffer, block.host, 0, nullptr, nullptr)));
    block.host = nullptr;
    return outcome("clFinish", api_.finish(queue));
}

End OpenClRuntime::end_in(const Block& block, std::uint64_t offset_bytes) noexcept
{
    if (block.host != nullptr) {
        const bool is_managed = block.kind == MemoryKind::managed;
        return {.host = block.host + offset_bytes,
                .device = block.device,
                .kernels_reach = is_managed,
                .is_managed = is_managed};
    }
    return {.buffer = block.buffer, .offset = offset_bytes, .device = block.device, .kernels_reach = true};
}

}  // namespace opencl

base::Expected<std::unique_ptr<Runtime>> open_opencl()
{
    const auto api = MEMSWEEP_TRY(opencl::load_library());
    auto found = MEMSWEEP_TRY(opencl::find_devices(api));
    return std::make_unique<opencl::OpenClRuntime>(api, std::move(found));
}

}  // namespace memsweep::device
