// Memory of every kind that CUDA has.
#include <cstdlib>

#include <fmt/format.h>

#include "core/device/cuda/runtime.hpp"

namespace memsweep::device::cuda {
namespace {

using base::ErrorCode;

constexpr std::size_t page_bytes = 4096;

bool is_the_hosts(MemoryKind kind)
{
    return kind == MemoryKind::pageable || kind == MemoryKind::pinned || kind == MemoryKind::registered ||
           kind == MemoryKind::write_combined || kind == MemoryKind::mapped;
}

}  // namespace

std::optional<std::string> CudaRuntime::lacks(std::uint32_t device, MemoryKind kind) const
{
    if (device >= found_.size()) {
        return fmt::format("there is no device {}", device);
    }
    const FoundDevice& found = found_[device];
    if (kind == MemoryKind::managed && !found.has_managed) {
        return "this device cannot fault managed memory in while the host uses it (concurrentManagedAccess)";
    }
    if (kind == MemoryKind::stream_ordered && !found.has_pools) {
        return "this device has no memory pools";
    }
    if (kind == MemoryKind::registered && !found.can_register) {
        return "this system cannot register memory for the device";
    }
    return std::nullopt;
}

base::Expected<RawBlock> CudaRuntime::allocate(const BlockRequest& request)
{
    if (const auto why = lacks(request.device, request.kind)) {
        return base::fail(ErrorCode::not_supported, *why);
    }
    if (request.bytes == 0 || request.kind == MemoryKind::registered) {
        return base::fail(ErrorCode::invalid_input, "no block is empty, and registered memory is adopted");
    }
    Block block{.kind = request.kind, .device = request.device, .bytes = request.bytes};
    if (request.kind == MemoryKind::stream_ordered) {
        const auto stream = find(request.stream);
        if (!stream) {
            return base::fail(stream.error());
        }
        block.stream = stream->stream;
    }
    return choose(request.device).and_then([&] { return obtain(block); }).map([&] { return keep(block); });
}

base::Expected<void> CudaRuntime::obtain(Block& block)
{
    void* made = nullptr;
    base::Expected<void> done;
    switch (block.kind) {
    case MemoryKind::pageable:
        made = std::aligned_alloc(page_bytes, (block.bytes + page_bytes - 1) / page_bytes * page_bytes);
        if (made == nullptr) {
            done = base::fail(ErrorCode::budget, fmt::format("aligned_alloc: no memory for {} bytes", block.bytes));
        }
        break;
    case MemoryKind::pinned:
        done = outcome("cudaHostAlloc", cudaHostAlloc(&made, block.bytes, cudaHostAllocPortable));
        break;
    case MemoryKind::write_combined:
        done = outcome("cudaHostAlloc",
                       cudaHostAlloc(&made, block.bytes, cudaHostAllocPortable | cudaHostAllocWriteCombined));
        break;
    case MemoryKind::mapped:
        done = outcome("cudaHostAlloc", cudaHostAlloc(&made, block.bytes, cudaHostAllocPortable | cudaHostAllocMapped));
        break;
    case MemoryKind::device:
        done = outcome("cudaMalloc", cudaMalloc(&made, block.bytes));
        break;
    case MemoryKind::managed:
        done = outcome("cudaMallocManaged", cudaMallocManaged(&made, block.bytes, cudaMemAttachGlobal));
        break;
    case MemoryKind::stream_ordered:
        done = outcome("cudaMallocAsync", cudaMallocAsync(&made, block.bytes, block.stream));
        break;
    case MemoryKind::registered:
        break;  // adopted
    }
    block.data = static_cast<std::byte*>(made);
    const bool seen_by_host = is_the_hosts(block.kind) || block.kind == MemoryKind::managed;
    block.host = seen_by_host ? block.data : nullptr;
    return done;
}

base::Expected<RawBlock> CudaRuntime::adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes)
{
    if (const auto why = lacks(device, MemoryKind::registered)) {
        return base::fail(ErrorCode::not_supported, *why);
    }
    if (ordinary == nullptr || bytes == 0) {
        return base::fail(ErrorCode::invalid_input, "adopt: there is no memory at this address");
    }
    Block block{.kind = MemoryKind::registered, .device = device, .bytes = bytes};
    void* reached = nullptr;
    const auto done =
        choose(device)
            .and_then([&] {
                return outcome("cudaHostRegister",
                               cudaHostRegister(ordinary, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped));
            })
            .and_then(
                [&] { return outcome("cudaHostGetDevicePointer", cudaHostGetDevicePointer(&reached, ordinary, 0)); });
    if (!done) {
        return base::fail(done.error());
    }
    block.host = static_cast<std::byte*>(ordinary);
    block.data = static_cast<std::byte*>(reached);
    return keep(block);
}

RawBlock CudaRuntime::keep(const Block& block)
{
    const std::lock_guard lock{mutex_};
    const MemoryId id{++last_id_};
    blocks_.emplace(id, block);
    return {.id = id, .host = block.kind == MemoryKind::mapped ? nullptr : block.host};
}

base::Expected<void> CudaRuntime::release(MemoryId memory)
{
    Block block;
    {
        const std::lock_guard lock{mutex_};
        const auto found = blocks_.find(memory);
        if (found == blocks_.end()) {
            return base::fail(ErrorCode::invalid_input, "there is no such block");
        }
        block = found->second;
        blocks_.erase(found);
    }
    if (auto chosen = choose(block.device); !chosen) {
        return chosen;
    }
    switch (block.kind) {
    case MemoryKind::pageable:
        std::free(block.data);
        return {};
    case MemoryKind::pinned:
    case MemoryKind::write_combined:
    case MemoryKind::mapped:
        return outcome("cudaFreeHost", cudaFreeHost(block.host));
    case MemoryKind::registered:
        return outcome("cudaHostUnregister", cudaHostUnregister(block.host));
    case MemoryKind::device:
    case MemoryKind::managed:
        return outcome("cudaFree", cudaFree(block.data));
    case MemoryKind::stream_ordered:
        return outcome("cudaFreeAsync", cudaFreeAsync(block.data, block.stream));
    }
    return {};
}

void* CudaRuntime::native_address(MemoryId memory) const
{
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(memory);
    return found == blocks_.end() ? nullptr : found->second.data;
}

base::Expected<std::byte*> CudaRuntime::map(MemoryId memory, Access)
{
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(memory);
    if (found == blocks_.end() || found->second.kind != MemoryKind::mapped || found->second.is_mapped) {
        return base::fail(ErrorCode::invalid_input, "map: the block is not of the kind mapped, or is mapped already");
    }
    found->second.is_mapped = true;
    return found->second.host;
}

base::Expected<void> CudaRuntime::unmap(MemoryId memory)
{
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(memory);
    if (found == blocks_.end() || !found->second.is_mapped) {
        return base::fail(ErrorCode::invalid_input, "unmap: the block is not mapped");
    }
    found->second.is_mapped = false;
    return {};
}

base::Expected<CudaRuntime::End> CudaRuntime::end_of(Address address, std::uint64_t bytes) const
{
    if (address.memory == MemoryId::none) {
        if (address.ordinary == nullptr) {
            return base::fail(ErrorCode::invalid_input, "there is no memory at this address");
        }
        return End{.data = static_cast<std::byte*>(address.ordinary), .on_host = true};
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
    if (block.is_mapped) {
        return base::fail(ErrorCode::invalid_input, "the block is mapped: it is the processor's until unmap");
    }
    return End{.data = block.data + address.offset_bytes,
               .on_host = is_the_hosts(block.kind) || block.kind == MemoryKind::managed,
               .kernels_reach = block.kind != MemoryKind::pageable,
               .is_managed = block.kind == MemoryKind::managed,
               .device = block.device};
}

base::Expected<CudaRuntime::End> CudaRuntime::reach(Address address, std::uint64_t bytes, std::uint64_t unit) const
{
    return end_of(address, bytes).and_then([&](const End& end) -> base::Expected<End> {
        if (!end.kernels_reach) {
            return base::fail(ErrorCode::not_supported, "kernels do not reach ordinary memory: register it");
        }
        if (bytes % unit != 0 || address.offset_bytes % unit != 0) {
            return base::fail(ErrorCode::invalid_input, fmt::format("not a multiple of {} bytes", unit));
        }
        return end;
    });
}

}  // namespace memsweep::device::cuda
