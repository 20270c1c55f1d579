// Memory of every kind that OpenCL has.
#include <cstdlib>

#include <fmt/format.h>

#include "core/device/opencl/runtime.hpp"

namespace memsweep::device::opencl {
namespace {

using base::ErrorCode;

constexpr std::size_t page_bytes = 4096;

cl_map_flags flags_of(Access access)
{
    switch (access) {
    case Access::read:
        return CL_MAP_READ;
    case Access::write:
        return CL_MAP_WRITE_INVALIDATE_REGION;
    case Access::read_write:
        break;
    }
    return CL_MAP_READ | CL_MAP_WRITE;
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
    if (const auto why = lacks(request.device, request.kind)) {
        return base::fail(ErrorCode::not_supported, *why);
    }
    if (request.bytes == 0 || request.kind == MemoryKind::registered) {
        return base::fail(ErrorCode::invalid_input, "no block is empty, and registered memory is adopted");
    }
    Block block{.kind = request.kind, .device = request.device, .bytes = request.bytes};
    const bool on_host = request.kind == MemoryKind::pinned || request.kind == MemoryKind::mapped;
    return obtain(block, CL_MEM_READ_WRITE | (on_host ? CL_MEM_ALLOC_HOST_PTR : cl_mem_flags{0}), nullptr)
        .and_then([&] { return keep(block); });
}

base::Expected<RawBlock> OpenClRuntime::adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes)
{
    if (ordinary == nullptr || bytes == 0) {
        return base::fail(ErrorCode::invalid_input, "adopt: there is no memory at this address");
    }
    Block block{.kind = MemoryKind::registered, .device = device, .bytes = bytes};
    return obtain(block, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, ordinary).and_then([&] { return keep(block); });
}

base::Expected<void> OpenClRuntime::obtain(Block& block, cl_mem_flags flags, void* ordinary)
{
    const auto context = context_of(block.device);
    if (!context) {
        return base::fail(context.error());
    }
    if (!is_a_buffer(block.kind)) {
        void* const made =
            block.kind == MemoryKind::managed
                ? api_.svm_allocate(*context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, block.bytes, 0)
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
    block.buffer = api_.create_buffer(*context, flags, block.bytes, ordinary, &code);
    if (code != CL_SUCCESS) {
        return base::fail(failure("clCreateBuffer", code));
    }
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

base::Expected<RawBlock> OpenClRuntime::keep(const Block& block)
{
    const std::lock_guard lock{mutex_};
    const MemoryId id{++last_id_};
    blocks_.emplace(id, block);
    return RawBlock{.id = id, .host = block.host};
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

base::Expected<void> OpenClRuntime::release(MemoryId memory)
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
    return service_queue(block.device).and_then([&](cl_command_queue queue) -> base::Expected<std::byte*> {
        cl_int code = CL_SUCCESS;
        void* const host =
            api_.map_buffer(queue, block.buffer, CL_TRUE, flags_of(access), 0, block.bytes, 0, nullptr, nullptr, &code);
        if (code != CL_SUCCESS) {
            return base::fail(failure("clEnqueueMapBuffer", code));
        }
        const std::lock_guard relock{mutex_};
        return blocks_.at(memory).host = static_cast<std::byte*>(host);
    });
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
    const cl_int code = api_.unmap(queue, block.buffer, block.host, 0, nullptr, nullptr);
    if (code != CL_SUCCESS) {
        return base::fail(failure("clEnqueueUnmapMemObject", code));
    }
    block.host = nullptr;
    return outcome("clFinish", api_.finish(queue));
}

base::Expected<OpenClRuntime::End> OpenClRuntime::end_of(Address address, std::uint64_t bytes) const
{
    if (address.memory == MemoryId::none) {
        if (address.ordinary == nullptr) {
            return base::fail(ErrorCode::invalid_input, "there is no memory at this address");
        }
        return End{.host = static_cast<std::byte*>(address.ordinary)};
    }
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(address.memory);
    if (found == blocks_.end()) {
        return base::fail(ErrorCode::invalid_input, "there is no such block");
    }
    const Block& block = found->second;
    if (address.offset_bytes > block.bytes || bytes > block.bytes - address.offset_bytes) {
        return base::fail(ErrorCode::invalid_input, fmt::format("{} bytes at {} reach beyond a block of {}", bytes,
                                                                address.offset_bytes, block.bytes));
    }
    if (block.kind == MemoryKind::mapped && block.host != nullptr) {
        return base::fail(ErrorCode::invalid_input, "the block is mapped: it is the processor's until unmap");
    }
    if (block.host != nullptr) {
        return End{.host = block.host + address.offset_bytes,
                   .device = block.device,
                   .is_shared = block.kind == MemoryKind::managed};
    }
    return End{.buffer = block.buffer, .offset = address.offset_bytes, .device = block.device};
}

}  // namespace memsweep::device::opencl
