#include "tests/cuda/fake_cudart.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/device/cuda/kernels.hpp"
#include "core/device/pattern.hpp"

namespace memsweep::tests::fake_cudart {
namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 34U;
constexpr std::size_t queue_limit = 1024;

struct EventState {
    std::uint64_t asked{};  // how often it was recorded, and how far the streams have come
    std::uint64_t done{};
    float at_ms{};
};

struct FakeStream {
    std::deque<std::function<bool()>> queue;  // each returns whether it is done; false: it waits for something
};

struct Range {
    std::size_t bytes{};
    bool kernels_reach{};
    std::byte* other{};  // the same memory at its second address
    bool is_registered{};
};

struct Machine {
    std::map<std::byte*, Range> ranges;
    std::set<FakeStream*> streams;
    std::set<std::shared_ptr<EventState>*> events;
    std::set<std::uint64_t*> pools;
    std::map<std::string, std::size_t> calls;
    std::map<std::string, cudaError_t> failing;
    cudaError_t sticky{cudaSuccess};
    cudaError_t last{cudaSuccess};
    bool gives_up{};  // latches do
    float now_ms{};
    int device{};
};

Machine& machine()
{
    static Machine made;
    return made;
}

cudaError_t answer(cudaError_t code)
{
    if (code != cudaSuccess) {
        machine().last = code;
    }
    return code;
}

// What a call answers before it does anything.
cudaError_t enter(const char* function)
{
    Machine& here = machine();
    ++here.calls[function];
    if (const auto failing = here.failing.extract(function); !failing.empty()) {
        return answer(failing.mapped());
    }
    return here.sticky;
}

FakeStream& of(cudaStream_t stream)
{
    return *reinterpret_cast<FakeStream*>(stream);
}

std::shared_ptr<EventState>& of(cudaEvent_t event)
{
    return *reinterpret_cast<std::shared_ptr<EventState>*>(event);
}

void go_on(FakeStream& stream)
{
    while (!stream.queue.empty() && machine().sticky == cudaSuccess && stream.queue.front()()) {
        stream.queue.pop_front();
    }
}

void go_on_everywhere()
{
    for (std::size_t round = 0; round <= machine().streams.size(); ++round) {  // one may wait for another
        std::ranges::for_each(machine().streams, [](FakeStream* stream) { go_on(*stream); });
    }
}

cudaError_t push(cudaStream_t stream, std::function<bool()> work)
{
    FakeStream& on = of(stream);
    if (on.queue.size() >= queue_limit) {
        go_on_everywhere();
        machine().gives_up = on.queue.size() >= queue_limit;
        go_on_everywhere();
        machine().gives_up = false;
    }
    on.queue.push_back([work = std::move(work)] {
        machine().now_ms += 0.001F;
        return work();
    });
    return cudaSuccess;
}

std::pair<std::byte* const, Range>* range_of(const void* address)
{
    auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(address));
    auto found = machine().ranges.upper_bound(at);
    if (found == machine().ranges.begin()) {
        return nullptr;
    }
    --found;
    return at < found->first + found->second.bytes ? &*found : nullptr;
}

// What a kernel does with an address; false: it broke.
bool reaches(const void* address, std::uint64_t alignment)
{
    const auto* const range = range_of(address);
    if (range == nullptr || !range->second.kernels_reach) {
        machine().sticky = cudaErrorIllegalAddress;
    } else if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) {
        machine().sticky = cudaErrorMisalignedAddress;
    }
    return machine().sticky == cudaSuccess;
}

cudaError_t give(void** made, std::size_t bytes, bool kernels_reach)
{
    if (bytes > memory_bytes) {
        return answer(cudaErrorMemoryAllocation);
    }
    auto* const data = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    machine().ranges[data] = {.bytes = bytes, .kernels_reach = kernels_reach};
    *made = data;
    return cudaSuccess;
}

// At two addresses, of which kernels reach the second alone.
cudaError_t give_twice(void** made, std::size_t bytes)
{
    if (bytes > memory_bytes) {
        return answer(cudaErrorMemoryAllocation);
    }
    const int file = ::memfd_create("fake_cudart", 0);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        return answer(cudaErrorMemoryAllocation);
    }
    const auto map = [&] {
        return static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    };
    std::byte* const host = map();
    std::byte* const device = map();
    ::close(file);
    machine().ranges[host] = {.bytes = bytes, .other = device};
    machine().ranges[device] = {.bytes = bytes, .kernels_reach = true, .other = host};
    *made = host;
    return cudaSuccess;
}

cudaError_t take_back(void* address)
{
    if (address == nullptr) {
        return cudaSuccess;
    }
    go_on_everywhere();
    auto* const data = static_cast<std::byte*>(address);
    const auto found = machine().ranges.find(data);
    if (found == machine().ranges.end()) {
        return answer(cudaErrorInvalidValue);
    }
    const Range range = found->second;
    machine().ranges.erase(found);
    if (range.other == nullptr) {
        std::free(data);
        return cudaSuccess;
    }
    machine().ranges.erase(range.other);
    ::munmap(data, range.bytes);
    ::munmap(range.other, range.bytes);
    return cudaSuccess;
}

}  // namespace

Holdings holdings()
{
    Holdings held{
        .pools = machine().pools.size(), .streams = machine().streams.size(), .events = machine().events.size()};
    for (const auto& [address, range] : machine().ranges) {
        held.registrations += range.is_registered ? 1 : 0;
        held.blocks += range.is_registered || (range.other != nullptr && range.kernels_reach) ? 0 : 1;
    }
    return held;
}

void reset()
{
    machine().calls.clear();
    machine().failing.clear();
    machine().sticky = machine().last = cudaSuccess;
}

std::size_t calls_of(const std::string& function)
{
    return machine().calls[function];
}

void fail_next(const std::string& function, cudaError_t code)
{
    machine().failing[function] = code;
}

cudaError_t remembered()
{
    return machine().sticky == cudaSuccess ? machine().last : machine().sticky;
}

void break_with(cudaError_t code)
{
    machine().sticky = code;
}

}  // namespace memsweep::tests::fake_cudart

using namespace memsweep::tests::fake_cudart;

// The library's own functions: their names and parameters are those of cuda_runtime_api.h.
extern "C" {

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 2;
    return enter("cudaGetDeviceCount");
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    *properties = {};
    std::strcpy(properties->name, device == 0 ? "invented 0" : "invented 1");
    properties->totalGlobalMem = memory_bytes;
    properties->multiProcessorCount = 4;
    properties->major = 9;
    return enter("cudaGetDeviceProperties");
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int /*device*/)
{
    if (const cudaError_t code = enter("cudaDeviceGetAttribute"); code != cudaSuccess) {
        return code;
    }
    switch (what) {
    case cudaDevAttrIntegrated:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostRegisterSupported:
        *value = what == cudaDevAttrIntegrated ? 0 : 1;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        return cudaSuccess;
    default:
        return answer(cudaErrorInvalidValue);
    }
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int /*bytes*/, int device)
{
    std::strcpy(text, device == 0 ? "0000:1B:00.0" : "0000:3D:00.0");
    return enter("cudaDeviceGetPCIBusId");
}

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = 13000;
    return enter("cudaDriverGetVersion");
}

cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return enter("cudaRuntimeGetVersion");
}

cudaError_t cudaSetDevice(int device)
{
    machine().device = device;
    return enter("cudaSetDevice");
}

cudaError_t cudaGetLastError()
{
    const cudaError_t code = remembered();
    machine().last = cudaSuccess;
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

cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/)
{
    *can = 1;
    return enter("cudaDeviceCanAccessPeer");
}

cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/)
{
    return enter("cudaDeviceEnablePeerAccess");
}

cudaError_t cudaDeviceDisablePeerAccess(int /*peer*/)
{
    return enter("cudaDeviceDisablePeerAccess");
}

cudaError_t cudaMalloc(void** made, std::size_t bytes)
{
    const cudaError_t code = enter("cudaMalloc");
    return code == cudaSuccess ? give(made, bytes, true) : code;
}

cudaError_t cudaMallocManaged(void** made, std::size_t bytes, unsigned /*flags*/)
{
    const cudaError_t code = enter("cudaMallocManaged");
    return code == cudaSuccess ? give(made, bytes, true) : code;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* /*wanted*/)
{
    const cudaError_t code = enter("cudaMemPoolCreate");
    if (code == cudaSuccess) {
        auto* const made = new std::uint64_t{0};  // what it keeps
        machine().pools.insert(made);
        *pool = reinterpret_cast<cudaMemPool_t>(made);
    }
    return code;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value)
{
    const cudaError_t code = enter("cudaMemPoolSetAttribute");
    if (code == cudaSuccess && what == cudaMemPoolAttrReleaseThreshold) {
        *reinterpret_cast<std::uint64_t*>(pool) = *static_cast<std::uint64_t*>(value);
    }
    return code;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    auto* const made = reinterpret_cast<std::uint64_t*>(pool);
    machine().pools.erase(made);
    delete made;
    return enter("cudaMemPoolDestroy");
}

cudaError_t cudaMallocFromPoolAsync(void** made, std::size_t bytes, cudaMemPool_t pool, cudaStream_t /*stream*/)
{
    const cudaError_t code = enter("cudaMallocFromPoolAsync");
    if (code != cudaSuccess) {
        return code;
    }
    machine().calls["pool that keeps all"] += *reinterpret_cast<std::uint64_t*>(pool) == ~std::uint64_t{0} ? 1 : 0;
    return give(made, bytes, true);
}

cudaError_t cudaHostAlloc(void** made, std::size_t bytes, unsigned flags)
{
    if (const cudaError_t code = enter("cudaHostAlloc"); code != cudaSuccess) {
        return code;
    }
    const bool has_another = (flags & (cudaHostAllocWriteCombined | cudaHostAllocMapped)) != 0;
    return has_another ? give_twice(made, bytes) : give(made, bytes, true);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/)
{
    if (const cudaError_t code = enter("cudaHostGetDevicePointer"); code != cudaSuccess) {
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
    if (const cudaError_t code = enter("cudaHostRegister"); code != cudaSuccess) {
        return code;
    }
    machine().ranges[static_cast<std::byte*>(host)] = {.bytes = bytes, .kernels_reach = true, .is_registered = true};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* host)
{
    const cudaError_t code = enter("cudaHostUnregister");
    machine().ranges.erase(static_cast<std::byte*>(host));
    return code;
}

cudaError_t cudaFree(void* address)
{
    const cudaError_t code = enter("cudaFree");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaFreeHost(void* address)
{
    const cudaError_t code = enter("cudaFreeHost");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t /*stream*/)
{
    const cudaError_t code = enter("cudaFreeAsync");
    return code == cudaSuccess ? take_back(address) : code;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/)
{
    if (const cudaError_t code = enter("cudaStreamCreateWithFlags"); code != cudaSuccess) {
        return code;
    }
    auto* const made = new FakeStream;
    machine().streams.insert(made);
    *stream = reinterpret_cast<cudaStream_t>(made);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    go_on_everywhere();
    machine().streams.erase(&of(stream));
    delete &of(stream);
    return enter("cudaStreamDestroy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (const cudaError_t code = enter("cudaStreamSynchronize"); code != cudaSuccess) {
        return code;
    }
    go_on_everywhere();
    return of(stream).queue.empty()
               ? cudaSuccess
               : answer(machine().sticky == cudaSuccess ? cudaErrorLaunchTimeout : machine().sticky);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/)
{
    if (const cudaError_t code = enter("cudaStreamWaitEvent"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [state = of(event), until = of(event)->asked] { return state->done >= until; });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/)
{
    if (const cudaError_t code = enter("cudaEventCreateWithFlags"); code != cudaSuccess) {
        return code;
    }
    auto* const made = new std::shared_ptr<EventState>{std::make_shared<EventState>()};
    machine().events.insert(made);
    *event = reinterpret_cast<cudaEvent_t>(made);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const cudaError_t code = enter("cudaEventDestroy");
    machine().events.erase(&of(event));
    delete &of(event);
    return code;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (const cudaError_t code = enter("cudaEventRecord"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [state = of(event), number = ++of(event)->asked] {
        state->done = std::max(state->done, number);
        state->at_ms = machine().now_ms;
        return true;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (const cudaError_t code = enter("cudaEventQuery"); code != cudaSuccess) {
        return code;
    }
    go_on_everywhere();
    return of(event)->done == of(event)->asked ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (const cudaError_t code = enter("cudaEventSynchronize"); code != cudaSuccess) {
        return code;
    }
    go_on_everywhere();
    return of(event)->done == of(event)->asked ? cudaSuccess : answer(cudaErrorLaunchTimeout);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second)
{
    if (const cudaError_t code = enter("cudaEventElapsedTime"); code != cudaSuccess) {
        return code;
    }
    const bool happened = of(first)->done == of(first)->asked && of(second)->done == of(second)->asked;
    *milliseconds = of(second)->at_ms - of(first)->at_ms;
    return happened ? cudaSuccess : answer(cudaErrorNotReady);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/, cudaStream_t stream)
{
    if (const cudaError_t code = enter("cudaMemcpyAsync"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] { return std::memmove(to, from, bytes) != nullptr; });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int /*device*/, const void* from, int /*from_device*/, std::size_t bytes,
                                cudaStream_t stream)
{
    if (const cudaError_t code = enter("cudaMemcpyPeerAsync"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] { return std::memmove(to, from, bytes) != nullptr; });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/)
{
    if (const cudaError_t code = enter("cudaMemcpy"); code != cudaSuccess) {
        return code;
    }
    std::memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    if (const cudaError_t code = enter("cudaMemsetAsync"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] { return std::memset(to, value, bytes) != nullptr; });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void* /*data*/, std::size_t /*bytes*/, cudaMemLocation /*where*/,
                                 unsigned /*flags*/, cudaStream_t /*stream*/)
#else
cudaError_t cudaMemPrefetchAsync(const void* /*data*/, std::size_t /*bytes*/, int /*device*/, cudaStream_t /*stream*/)
#endif
{
    return enter("cudaMemPrefetchAsync");
}

}  // extern "C"

// What kernels.cu does on a device.
namespace memsweep::device::cuda {

cudaError_t preload_kernels(Grids& /*grids*/)
{
    return enter("preload_kernels");
}

cudaError_t queue_copy(cudaStream_t stream, unsigned /*most_blocks*/, void* to, const void* from, std::uint64_t bytes)
{
    if (const cudaError_t code = enter("copy_kernel"); code != cudaSuccess) {
        return code;
    }
    return push(stream,
                [=] { return reaches(to, 16) && reaches(from, 16) && std::memmove(to, from, bytes) != nullptr; });
}

cudaError_t queue_pattern(cudaStream_t stream, unsigned /*most_blocks*/, void* to, std::uint64_t bytes, Pattern pattern)
{
    if (const cudaError_t code = enter("pattern_kernel"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] {
        if (!reaches(to, 8)) {
            return false;
        }
        write_pattern({static_cast<std::byte*>(to), bytes}, pattern);
        return true;
    });
}

cudaError_t queue_check(cudaStream_t stream, unsigned /*most_blocks*/, const void* from, std::uint64_t bytes,
                        Pattern pattern, unsigned long long* found)
{
    if (const cudaError_t code = enter("check_kernel"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] {
        if (!reaches(from, 8)) {
            return false;
        }
        const Mismatch wrong = check_pattern({static_cast<const std::byte*>(from), bytes}, pattern);
        found[0] += wrong.words;
        found[1] = wrong.words == 0 ? found[1] : wrong.first_byte / 8;
        return true;
    });
}

cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place)
{
    if (const cudaError_t code = enter("follow_kernel"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] {
        std::uint64_t at = *static_cast<std::uint64_t*>(place);
        for (std::uint64_t load = 0; load < loads; ++load) {
            const std::byte* const link = static_cast<const std::byte*>(chain) + at;
            if (!reaches(link, 8)) {
                return false;
            }
            std::memcpy(&at, link, sizeof at);
        }
        *static_cast<std::uint64_t*>(place) = at;
        return true;
    });
}

cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                        volatile std::uint64_t* gave_up)
{
    if (const cudaError_t code = enter("latch_kernel"); code != cudaSuccess) {
        return code;
    }
    return push(stream, [=] {
        if (!reaches(const_cast<const std::uint64_t*>(word), 8)) {
            return false;
        }
        if (*word != expected && machine().gives_up) {
            *gave_up = expected;
        }
        return *word == expected || machine().gives_up;
    });
}

}  // namespace memsweep::device::cuda
