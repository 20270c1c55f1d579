#include "tests/cuda/fake_cudart.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "tests/cuda/invented_machine.hpp"

namespace memsweep::tests::fake_cudart {
namespace {

bool exists(int device)
{
    return device >= 0 && device < machine().devices.count;
}

#ifndef MEMSWEEP_HIP
// The invented management library tells the same, where it is a whole card.
void write_uuid(cudaUUID_t& uuid, int device)
{
    std::memcpy(uuid.bytes, "memsweep", 8);
    uuid.bytes[8] = machine().devices.partitioned ? 1 : 0;
    uuid.bytes[15] = static_cast<char>(device);
}
#endif

#if CUDART_VERSION >= 12020
std::optional<int> node_of(const cudaMemLocation& where)
{
    return where.type == cudaMemLocationTypeHostNuma ? std::optional{where.id} : std::nullopt;
}
#endif

cudaError_t prefetch(const void* data, std::size_t bytes, std::optional<int> node, cudaStream_t stream)
{
    const auto code = enter("cudaMemPrefetchAsync");
    if (code != cudaSuccess) {
        return code;
    }
    if (node) {
        ++machine().calls["prefetch to node " + std::to_string(*node)];
    }
    return is_managed(data, bytes) ? push(stream, ms_for(bytes), [] {}) : answer(cudaErrorInvalidValue);
}

// Of a wait that cannot end: what broke the work, or else a latch that holds it.
cudaError_t answer_unfinished()
{
    return answer(machine().sticky == cudaSuccess ? cudaErrorLaunchTimeout : machine().sticky);
}

}  // namespace

// The library's own functions: their names and parameters are those of cuda_runtime_api.h.
extern "C" {

cudaError_t cudaGetDeviceCount(int* count)
{
    const auto code = enter("cudaGetDeviceCount");
    constexpr int major = 1000;
    if (code == cudaSuccess && machine().devices.driver_version / major < library_version / major) {
        return answer(cudaErrorInsufficientDriver);
    }
    *count = machine().devices.count;
    return code;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s %d", machine().devices.name, device);
#ifdef MEMSWEEP_HIP
    std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "gfx90a");
#else
    write_uuid(properties->uuid, device);
    properties->major = 9;
#endif
    properties->totalGlobalMem = machine().devices.memory_bytes;
    properties->multiProcessorCount = 4;
    return enter("cudaGetDeviceProperties");
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int /*device*/)
{
    const auto code = enter("cudaDeviceGetAttribute");
    if (code != cudaSuccess) {
        return code;
    }
    switch (what) {
    case cudaDevAttrIntegrated:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrStreamPrioritiesSupported:
        *value = what == cudaDevAttrIntegrated ? 0 : 1;
        return cudaSuccess;
    case cudaDevAttrPageableMemoryAccess:
        *value = machine().devices.reaches_ordinary ? 1 : 0;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        return cudaSuccess;
    default:
        return answer(cudaErrorInvalidValue);
    }
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device)
{
    constexpr int first_bus = 0x1B;
    constexpr int apart = 0x22;
    std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02X:00.0", first_bus + device * apart);
    return enter("cudaDeviceGetPCIBusId");
}

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = machine().devices.driver_version;
    return enter("cudaDriverGetVersion");
}

cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = library_version;
    return enter("cudaRuntimeGetVersion");
}

cudaError_t cudaSetDevice(int device)
{
    const auto code = enter("cudaSetDevice");
    if (!exists(device)) {
        return answer(cudaErrorInvalidDevice);
    }
    current_device() = device;
    return code;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t code = remembered();
    forget_last();
    return code;
}

cudaError_t cudaPeekAtLastError()
{
    return remembered();
}

const char* cudaGetErrorName(cudaError_t /*code*/)
{
    return "cudaError";
}

const char* cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorIllegalAddress      ? "an illegal memory access was encountered"
           : code == cudaErrorMisalignedAddress ? "misaligned address"
                                                : "invented";
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer)
{
    const auto code = enter("cudaDeviceCanAccessPeer");
    *can = code == cudaSuccess && machine().devices.peers && device != peer ? 1 : 0;
    return code != cudaSuccess || (exists(device) && exists(peer)) ? code : answer(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    const auto code = enter("cudaDeviceEnablePeerAccess");
    if (code != cudaSuccess) {
        return code;
    }
    if (!exists(peer) || peer == current_device()) {
        return answer(cudaErrorInvalidDevice);
    }
    if (!machine().devices.peers || flags != 0) {
        return answer(flags != 0 ? cudaErrorInvalidValue : cudaErrorPeerAccessUnsupported);
    }
    const bool is_new = machine().accesses.insert({current_device(), peer}).second;
    return answer(is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

// Like CUDA's it does not wait: what is queued meets the access as it is when it is done.
cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    const auto code = enter("cudaDeviceDisablePeerAccess");
    if (code != cudaSuccess) {
        return code;
    }
    const bool was_on = machine().accesses.erase({current_device(), peer}) != 0;
    return answer(was_on ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaMalloc(void** made, std::size_t bytes)
{
    const auto code = enter("cudaMalloc");
    return code == cudaSuccess ? give(made, {.bytes = bytes, .kernels_reach = true, .home = current_device()}) : code;
}

cudaError_t cudaMallocManaged(void** made, std::size_t bytes, unsigned /*flags*/)
{
    const auto code = enter("cudaMallocManaged");
    return code == cudaSuccess ? give(made, {.bytes = bytes, .kernels_reach = true, .is_managed = true}) : code;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* wanted)
{
    const auto code = enter("cudaMemPoolCreate");
    if (code == cudaSuccess) {
        auto* const made = new Pool{.device = wanted->location.id};
        machine().pools.insert(made);
        *pool = reinterpret_cast<cudaMemPool_t>(made);
    }
    return code;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value)
{
    const auto code = enter("cudaMemPoolSetAttribute");
    if (code == cudaSuccess && what == cudaMemPoolAttrReleaseThreshold) {
        reinterpret_cast<Pool*>(pool)->kept_bytes = *static_cast<std::uint64_t*>(value);
    }
    return code;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    const auto code = enter("cudaMemPoolDestroy");
    auto* const made = reinterpret_cast<Pool*>(pool);
    machine().pools.erase(made);
    delete made;
    return code;
}

cudaError_t cudaMallocFromPoolAsync(void** made, std::size_t bytes, cudaMemPool_t pool, cudaStream_t /*stream*/)
{
    const auto code = enter("cudaMallocFromPoolAsync");
    if (code != cudaSuccess) {
        return code;
    }
    const Pool& from = *reinterpret_cast<Pool*>(pool);
    machine().calls["pool that keeps all"] += from.kept_bytes == ~std::uint64_t{0} ? 1 : 0;
    return give(made, {.bytes = bytes, .kernels_reach = true, .home = from.device, .is_pooled = true});
}

cudaError_t cudaHostAlloc(void** made, std::size_t bytes, unsigned flags)
{
    const auto code = enter("cudaHostAlloc");
    if (code != cudaSuccess) {
        return code;
    }
    const bool has_another = (flags & (cudaHostAllocWriteCombined | cudaHostAllocMapped)) != 0;
    return has_another ? give_twice(made, bytes) : give(made, {.bytes = bytes, .kernels_reach = true});
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/)
{
    const auto code = enter("cudaHostGetDevicePointer");
    if (code != cudaSuccess) {
        return code;
    }
    const auto* const range = range_of(host);
    if (range == nullptr) {
        return answer(cudaErrorInvalidValue);
    }
    *device = range->second.other == nullptr ? host : range->second.other;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned /*flags*/)
{
    const auto code = enter("cudaHostRegister");
    if (code != cudaSuccess) {
        return code;
    }
    machine().ranges[static_cast<std::byte*>(host)] = {.bytes = bytes, .kernels_reach = true, .is_registered = true};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* host)
{
    const auto code = enter("cudaHostUnregister");
    machine().ranges.erase(static_cast<std::byte*>(host));
    return code;
}

cudaError_t cudaFree(void* address)
{
    const auto code = enter("cudaFree");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaFreeHost(void* address)
{
    const auto code = enter("cudaFreeHost");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t /*stream*/)
{
    const auto code = enter("cudaFreeAsync");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    *least = 0;
    *greatest = most_urgent;
    return enter("cudaDeviceGetStreamPriorityRange");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int priority)
{
    const auto code = enter("cudaStreamCreateWithPriority");
    if (code != cudaSuccess) {
        return code;
    }
    machine().calls["urgent stream"] += priority == most_urgent ? 1 : 0;
    auto* const made = new InventedStream{.device = current_device(), .at_ms = machine().host_ms};
    machine().streams.insert(made);
    *stream = reinterpret_cast<cudaStream_t>(made);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const auto code = enter("cudaStreamDestroy");
    finish(of(stream));
    for (const auto* const event : machine().events) {
        (*event)->on = (*event)->on == &of(stream) ? nullptr : (*event)->on;
    }
    machine().streams.erase(&of(stream));
    delete &of(stream);
    return code;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const auto code = enter("cudaStreamSynchronize");
    if (code != cudaSuccess) {
        return code;
    }
    finish(of(stream));
    return of(stream).queue.empty() ? machine().sticky : answer_unfinished();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/)
{
    const auto code = enter("cudaStreamWaitEvent");
    if (code != cudaSuccess) {
        return code;
    }
    const auto wait_for = [state = of(event), &on = of(stream)] { on.at_ms = std::max(on.at_ms, state->at_ms); };
    return push(stream, 0, wait_for, [state = of(event), until = of(event)->asked] { return happens(*state, until); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/)
{
    const auto code = enter("cudaEventCreateWithFlags");
    if (code != cudaSuccess) {
        return code;
    }
    auto* const made = new std::shared_ptr<EventState>{std::make_shared<EventState>()};
    (*made)->device = current_device();
    machine().events.insert(made);
    *event = reinterpret_cast<cudaEvent_t>(made);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const auto code = enter("cudaEventDestroy");
    machine().events.erase(&of(event));
    delete &of(event);
    return code;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const auto code = enter("cudaEventRecord");
    if (code != cudaSuccess) {
        return code;
    }
    if (of(event)->device != of(stream).device) {
        return answer(cudaErrorInvalidResourceHandle);
    }
    of(event)->on = &of(stream);
    return push(stream, ms_for(0), [state = of(event), number = ++of(event)->asked, &on = of(stream)] {
        if (number > state->done) {
            state->done = number;
            state->at_ms = on.at_ms;
        }
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const auto code = enter("cudaEventQuery");
    if (code != cudaSuccess) {
        return code;
    }
    EventState& state = *of(event);
    if (state.done != state.asked && state.on != nullptr) {
        step(*state.on);  // who asks again and again sees it happen
    }
    return state.done == state.asked ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const auto code = enter("cudaEventSynchronize");
    if (code != cudaSuccess) {
        return code;
    }
    EventState& state = *of(event);
    const bool happened = happens(state, state.asked);
    machine().host_ms = std::max(machine().host_ms, state.at_ms);
    return happened ? machine().sticky : answer_unfinished();
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second)
{
    const auto code = enter("cudaEventElapsedTime");
    if (code != cudaSuccess) {
        return code;
    }
    if (of(first)->device != of(second)->device) {
        return answer(cudaErrorInvalidResourceHandle);
    }
    const bool happened = of(first)->done == of(first)->asked && of(second)->done == of(second)->asked;
    *milliseconds = static_cast<float>(of(second)->at_ms - of(first)->at_ms);
    return happened ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/, cudaStream_t stream)
{
    const auto code = enter("cudaMemcpyAsync");
    return code == cudaSuccess ? push_copy(stream, to, from, bytes) : code;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream)
{
    const auto code = enter("cudaMemcpyPeerAsync");
    if (code != cudaSuccess) {
        return code;
    }
    const auto lies_there = [](const void* address, int there) {
        const auto* const range = range_of(address);
        return range == nullptr || range->second.home.value_or(there) == there;
    };
    if (!lies_there(to, device) || !lies_there(from, from_device)) {
        return answer(cudaErrorInvalidValue);
    }
    return push_copy(stream, to, from, bytes);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/)
{
    const auto code = enter("cudaMemcpy");
    if (code != cudaSuccess) {
        return code;
    }
    copy_by_engine(current_device(), to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    const auto code = enter("cudaMemsetAsync");
    if (code != cudaSuccess) {
        return code;
    }
    return push(stream, ms_for(bytes), [=, device = of(stream).device] {
        if (std::byte* const set = reached(device, to, bytes, 1)) {
            std::memset(set, value, bytes);
        }
    });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void* data, std::size_t bytes, cudaMemLocation where, unsigned /*flags*/,
                                 cudaStream_t stream)
{
    return prefetch(data, bytes, node_of(where), stream);
}
#else
cudaError_t cudaMemPrefetchAsync(const void* data, std::size_t bytes, int /*device*/, cudaStream_t stream)
{
    return prefetch(data, bytes, std::nullopt, stream);
}
#endif
#if CUDART_VERSION >= 12020 && CUDART_VERSION < 13000
cudaError_t cudaMemPrefetchAsync_v2(const void* data, std::size_t bytes, cudaMemLocation where, unsigned /*flags*/,
                                    cudaStream_t stream)
{
    return prefetch(data, bytes, node_of(where), stream);
}
#endif

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation /*place*/)
#else
cudaError_t cudaMemAdvise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int /*place*/)
#endif
{
    const auto code = enter("cudaMemAdvise");
    machine().calls["advised access"] += advice == cudaMemAdviseSetAccessedBy ? 1 : 0;
    return code != cudaSuccess || is_managed(data, bytes) ? code : answer(cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all)
{
    const auto code = enter("cudaMemGetInfo");
    *all = machine().devices.memory_bytes;
    *free = *all - held_on(current_device());
    return code;
}

}  // extern "C"

}  // namespace memsweep::tests::fake_cudart
