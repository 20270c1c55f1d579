#include "core/device/cuda/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "core/device/open.hpp"

namespace memsweep::device {
namespace MEMSWEEP_API {

namespace {

using base::ErrorCode;

constexpr std::size_t page_bytes = 4096;

bool is_the_hosts(MemoryKind kind)
{
    return kind == MemoryKind::pageable || kind == MemoryKind::pinned || kind == MemoryKind::registered ||
           kind == MemoryKind::write_combined || kind == MemoryKind::mapped;
}

}  // namespace

base::Expected<HostMemory> allocate_on_host(std::uint64_t bytes, unsigned flags)
{
    void* host = nullptr;
    void* device = nullptr;
    MEMSWEEP_TRY(
        outcome("cudaHostAlloc", cudaHostAlloc(&host, bytes, flags | cudaHostAllocPortable | cudaHostAllocMapped)));
    const auto asked = outcome("cudaHostGetDevicePointer", cudaHostGetDevicePointer(&device, host, 0));
    if (!asked) {
        forget_failure(cudaFreeHost(host));
        return base::fail(asked.error());
    }
    return HostMemory{.host = static_cast<std::byte*>(host), .device = static_cast<std::byte*>(device)};
}

CudaRuntime::CudaRuntime(std::vector<FoundDevice> found, std::unique_ptr<Nvml> nvml)
    : found_{std::move(found)}, nvml_{std::move(nvml)}, has_context_(found_.size())
{
    for (const FoundDevice& one : found_) {
        facts_.push_back(one.facts);
    }
    reaches_ordinary_ = std::ranges::all_of(facts_, &DeviceFacts::reaches_ordinary);
}

CudaRuntime::~CudaRuntime()
{
    close_all();
    for (const auto& [device, pool] : pools_) {
        forget_failure(cudaMemPoolDestroy(pool));
    }
    for (const auto& [device, events] : idle_events_) {
        for (cudaEvent_t event : events) {
            forget_failure(cudaEventDestroy(event));
        }
    }
}

base::Expected<void> CudaRuntime::choose(std::uint32_t device) const
{
    if (device >= found_.size()) {
        return base::fail(ErrorCode::invalid_input, fmt::format("there is no device {}", device));
    }
    has_context_[device].store(true, std::memory_order_relaxed);
    return outcome("cudaSetDevice", cudaSetDevice(static_cast<int>(device)));
}

// To free nothing is to do nothing; in a broken context it fails, as every call does there. Devices that were never
// chosen are not asked, because that would make them a context.
std::optional<std::string> CudaRuntime::lost() const
{
    for (std::uint32_t device = 0; device < found_.size(); ++device) {
        if (!has_context_[device].load(std::memory_order_relaxed)) {
            continue;
        }
        const auto alive = choose(device).and_then([] { return outcome("cudaFree", cudaFree(nullptr)); });
        if (!alive) {
            return fmt::format("gpu{}: {}", device, alive.error().message);
        }
    }
    return std::nullopt;
}

PeerLink CudaRuntime::peer(std::uint32_t from, std::uint32_t to) const
{
    if (from >= found_.size() || to >= found_.size()) {
        return {.reason = "there is no such device"};
    }
    PeerLink link{.copies = true, .possible = from == to, .direct = from == to};
    if (link.direct) {
        return link;
    }
    int can = 0;
    const cudaError_t code = cudaDeviceCanAccessPeer(&can, static_cast<int>(from), static_cast<int>(to));
    const std::lock_guard lock{mutex_};
    link.possible = code == cudaSuccess && can != 0;
    if (!link.possible) {
        link.reason = code == cudaSuccess
                          ? "cudaDeviceCanAccessPeer says no: no link joins them, or the system forbids it"
                          : failure("cudaDeviceCanAccessPeer", code).message;
    } else if (!direct_.contains({from, to})) {
        link.reason = "peer access is off";
    } else {
        link.direct = true;
    }
    if (nvml_->is_there()) {
        const LinksBetween links = links_between(found_[from], found_[to]);
        link.nvlinks = links.count;
        link.through_switch = links.through_switch;
    }
    return link;
}

base::Expected<void> CudaRuntime::set_peer_access(std::uint32_t from, std::uint32_t to, bool on)
{
    const PeerLink link = peer(from, to);
    if (link.direct == on) {
        return {};
    }
    if (!link.possible || from == to) {
        return base::fail(ErrorCode::not_supported, from == to ? "a device always reaches itself" : link.reason);
    }
    MEMSWEEP_TRY(choose(from));
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

std::optional<Clocks> CudaRuntime::clocks(std::uint32_t device) const
{
    return device < found_.size() ? nvml_->clocks(facts_[device].bus_address) : std::nullopt;
}

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

base::Expected<std::uint64_t> CudaRuntime::free_bytes(std::uint32_t device) const
{
    std::size_t free = 0;
    std::size_t all = 0;
    MEMSWEEP_TRY(choose(device));
    return outcome("cudaMemGetInfo", cudaMemGetInfo(&free, &all)).map([&] { return std::uint64_t{free}; });
}

base::Expected<void> CudaRuntime::advise(std::uint32_t device, MemoryId managed, Advice advice)
{
    const auto block = MEMSWEEP_TRY(find({.memory = managed}, 0));
    if (block.kind != MemoryKind::managed) {
        return base::fail(ErrorCode::not_supported, "advise: only managed memory moves");
    }
    MEMSWEEP_TRY(choose(device));
    const auto number = static_cast<int>(device);
    const auto prefer = [&](Place place) {
        return outcome("cudaMemAdvise",
                       cudaMemAdvise(block.data, block.bytes, cudaMemAdviseSetPreferredLocation, place));
    };
    if (advice == Advice::stay_on_device) {
        return prefer(on_device(number));
    }
    MEMSWEEP_TRY(prefer(on_host()));
    return outcome("cudaMemAdvise",
                   cudaMemAdvise(block.data, block.bytes, cudaMemAdviseSetAccessedBy, on_device(number)));
}

base::Expected<RawBlock> CudaRuntime::allocate(const BlockRequest& request)
{
    MEMSWEEP_TRY(check(request));
    Block block{.kind = request.kind, .device = request.device, .bytes = request.bytes};
    if (request.kind == MemoryKind::stream_ordered) {
        block.stream = MEMSWEEP_TRY(find(request.stream)).stream;
    }
    MEMSWEEP_TRY(choose(request.device));
    MEMSWEEP_TRY(obtain(block));
    return kept(block);
}

base::Expected<cudaMemPool_t> CudaRuntime::pool_of(std::uint32_t device)
{
    const std::lock_guard lock{mutex_};
    if (const auto found = pools_.find(device); found != pools_.end()) {
        return found->second;
    }
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.handleTypes = cudaMemHandleTypeNone;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = static_cast<int>(device);
    cudaMemPool_t pool = nullptr;
    MEMSWEEP_TRY(outcome("cudaMemPoolCreate", cudaMemPoolCreate(&pool, &wanted)));
    std::uint64_t kept_bytes = std::numeric_limits<std::uint64_t>::max();
    const auto kept =
        outcome("cudaMemPoolSetAttribute", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes));
    if (!kept) {
        forget_failure(cudaMemPoolDestroy(pool));
        return base::fail(kept.error());
    }
    return pools_[device] = pool;
}

base::Expected<void> CudaRuntime::obtain(Block& block)
{
    void* made = nullptr;
    base::Expected<void> done;
    const auto take_host = [&block](unsigned flags) {
        return allocate_on_host(block.bytes, flags).map([&block](HostMemory memory) {
            block.data = memory.device;
            block.host = memory.host;
        });
    };
    switch (block.kind) {
    case MemoryKind::pageable:
        made = std::aligned_alloc(page_bytes, (block.bytes + page_bytes - 1) / page_bytes * page_bytes);
        if (made == nullptr) {
            done = base::fail(ErrorCode::budget, fmt::format("aligned_alloc: no memory for {} bytes", block.bytes));
        }
        break;
    case MemoryKind::pinned:
    case MemoryKind::mapped:
        return take_host(cudaHostAllocDefault);
    case MemoryKind::write_combined:
        return take_host(cudaHostAllocWriteCombined);
    case MemoryKind::device:
        done = outcome("cudaMalloc", cudaMalloc(&made, block.bytes));
        break;
    case MemoryKind::managed:
        done = outcome("cudaMallocManaged", cudaMallocManaged(&made, block.bytes, cudaMemAttachGlobal));
        break;
    case MemoryKind::stream_ordered:
        done = pool_of(block.device).and_then([&](cudaMemPool_t pool) {
            return outcome("cudaMallocFromPoolAsync", cudaMallocFromPoolAsync(&made, block.bytes, pool, block.stream));
        });
        break;
    case MemoryKind::registered:
        break;  // adopted
    }
    block.data = static_cast<std::byte*>(made);
    const bool seen_by_host = block.kind == MemoryKind::pageable || block.kind == MemoryKind::managed;
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
    MEMSWEEP_TRY(choose(device));
    MEMSWEEP_TRY(outcome("cudaHostRegister",
                         cudaHostRegister(ordinary, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped)));
    const auto asked = outcome("cudaHostGetDevicePointer", cudaHostGetDevicePointer(&reached, ordinary, 0));
    if (!asked) {
        forget_failure(cudaHostUnregister(ordinary));
        return base::fail(asked.error());
    }
    block.host = static_cast<std::byte*>(ordinary);
    block.data = static_cast<std::byte*>(reached);
    return kept(block);
}

base::Expected<void> CudaRuntime::close(MemoryId memory)
{
    const auto block = MEMSWEEP_TRY(take(blocks_, memory, "there is no such block"));
    MEMSWEEP_TRY(choose(block.device));
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

End CudaRuntime::end_at(std::byte* host) const noexcept
{
    return {.data = host, .host = host, .on_host = true, .kernels_reach = reaches_ordinary_, .is_ordinary = true};
}

End CudaRuntime::end_in(const Block& block, std::uint64_t offset_bytes) const noexcept
{
    return {.data = block.data + offset_bytes,
            .host = block.host == nullptr ? nullptr : block.host + offset_bytes,
            .on_host = is_the_hosts(block.kind) || block.kind == MemoryKind::managed,
            .kernels_reach = block.kind != MemoryKind::pageable || reaches_ordinary_,
            .is_managed = block.kind == MemoryKind::managed,
            .is_ordinary = block.kind == MemoryKind::pageable,
            .is_pooled = block.kind == MemoryKind::stream_ordered,
            .device = block.device};
}

base::Expected<std::unique_ptr<Runtime>> open()
{
    const int count = MEMSWEEP_TRY(count_devices());
    auto nvml = std::make_unique<Nvml>();
    auto found = MEMSWEEP_TRY(describe_devices(count, *nvml));
    return std::make_unique<CudaRuntime>(std::move(found), std::move(nvml));
}

}  // namespace MEMSWEEP_API

#if defined(MEMSWEEP_HIP) && defined(MEMSWEEP_WITH_HIP)
base::Expected<std::unique_ptr<Runtime>> open_hip()
{
    return hip::open();
}
#endif

#ifndef MEMSWEEP_HIP
base::Expected<std::unique_ptr<Runtime>> open_cuda()
{
    return cuda::open();
}
#endif

}  // namespace memsweep::device
