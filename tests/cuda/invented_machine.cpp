#include "tests/cuda/invented_machine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace memsweep::tests::fake_cudart {

Machine& machine()
{
    static Machine made;
    return made;
}

namespace {

thread_local int chosen_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

std::unique_lock<std::recursive_mutex> hold_machine()
{
    return std::unique_lock{machine().mutex};
}

}  // namespace

int& current_device()
{
    return chosen_device;
}

void forget_last()
{
    last_error = cudaSuccess;
}

cudaError_t answer(cudaError_t code)
{
    if (code != cudaSuccess) {
        last_error = code;
    }
    return code;
}

Entered enter(const char* function)
{
    auto lock = hold_machine();
    Machine& here = machine();
    ++here.calls[function];
    const auto failing = here.failing.extract(function);
    const cudaError_t code = failing.empty() ? here.sticky : answer(failing.mapped());
    return {std::move(lock), code};
}

Entered enter_launch(const char* function, cudaStream_t stream)
{
    auto lock = hold_machine();
    const cudaError_t code = enter(function);
    const bool is_elsewhere = of(stream).device != current_device();
    return {std::move(lock), code == cudaSuccess && is_elsewhere ? answer(cudaErrorInvalidResourceHandle) : code};
}

InventedStream& of(cudaStream_t stream)
{
    return *reinterpret_cast<InventedStream*>(stream);
}

std::shared_ptr<EventState>& of(cudaEvent_t event)
{
    return *reinterpret_cast<std::shared_ptr<EventState>*>(event);
}

bool step(InventedStream& stream)
{
    if (stream.queue.empty() || machine().sticky != cudaSuccess) {
        return false;
    }
    const Work& next = stream.queue.front();
    if (next.is_ready && !next.is_ready()) {
        return false;
    }
    stream.at_ms += next.takes_ms;
    next.run();
    stream.queue.pop_front();
    return true;
}

void finish(InventedStream& stream)
{
    while (step(stream)) {
    }
    machine().host_ms = std::max(machine().host_ms, stream.at_ms);
}

void finish_everything()
{
    std::ranges::for_each(machine().streams, [](InventedStream* stream) { finish(*stream); });
}

bool happens(EventState& state, std::uint64_t until)
{
    while (state.done < until && state.on != nullptr && step(*state.on)) {
    }
    return state.done >= until;
}

double ms_for(std::uint64_t bytes)
{
    return 0.001 + static_cast<double>(bytes) / 1e6;
}

cudaError_t push(cudaStream_t stream, double takes_ms, std::function<void()> run, std::function<bool()> is_ready)
{
    constexpr std::size_t limit = 1024;
    InventedStream& on = of(stream);
    const auto make_room = [&on] {
        while (on.queue.size() >= limit && step(on)) {
        }
    };
    make_room();
    machine().gives_up = on.queue.size() >= limit;
    make_room();
    machine().gives_up = false;
    if (on.queue.empty()) {
        on.at_ms = std::max(on.at_ms, machine().host_ms);
    }
    on.queue.push_back({.run = std::move(run), .takes_ms = takes_ms, .is_ready = std::move(is_ready)});
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

namespace {

bool is_over_link(int device, const void* address)
{
    const auto* const range = range_of(address);
    return range != nullptr && range->second.home && *range->second.home != device;
}

bool has_access(int device, const Range& range)
{
    return !range.home || *range.home == device ||
           (!range.is_pooled && machine().accesses.contains({device, *range.home}));
}

bool is_among(const Pairs& pairs, int device, const void* address)
{
    return is_over_link(device, address) && pairs.contains({device, *range_of(address)->second.home});
}

double ms_over(int mover, const void* to, const void* from, std::uint64_t bytes)
{
    const Pairs& slow = machine().devices.slow;
    return ms_for(bytes) * (is_among(slow, mover, to) || is_among(slow, mover, from) ? slower : 1);
}

// Of two devices the stream's own engine moves, and the source's where the stream belongs to neither.
int mover_of(int device, const void* to, const void* from)
{
    const auto* const into = range_of(to);
    const auto* const out_of = range_of(from);
    const bool between = into != nullptr && out_of != nullptr && into->second.home && out_of->second.home &&
                         into->second.home != out_of->second.home;
    return between && into->second.home != device ? *out_of->second.home : device;
}

// Where a device that has access finds what is at this address: elsewhere, where its link misdirects it.
std::byte* seen_by(int device, const void* address)
{
    auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(address));
    if (!is_among(machine().devices.misdirected, device, address)) {
        return at;
    }
    auto* const range = range_of(address);
    std::vector<std::byte>& shadow = range->second.shadows[device];
    shadow.resize(range->second.bytes);
    return shadow.data() + (at - range->first);
}

void copy_directly(int device, void* to, const void* from, std::uint64_t bytes)
{
    std::byte* const arrived = seen_by(device, to);
    std::memmove(arrived, seen_by(device, from), bytes);
    const Pairs& corrupting = machine().devices.corrupting;
    if (bytes != 0 && (is_among(corrupting, device, to) || is_among(corrupting, device, from))) {
        arrived[bytes / 2] = ~arrived[bytes / 2];
    }
}

}  // namespace

std::byte* reached(int device, const void* address, std::uint64_t bytes, std::uint64_t alignment)
{
    const auto* const range = range_of(address);
    const auto* const at = static_cast<const std::byte*>(address);
    if (range == nullptr && machine().devices.reaches_ordinary) {
        return const_cast<std::byte*>(at);
    }
    if (range == nullptr || !range->second.kernels_reach || at + bytes > range->first + range->second.bytes ||
        !has_access(device, range->second)) {
        machine().sticky = cudaErrorIllegalAddress;
    } else if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) {
        machine().sticky = cudaErrorMisalignedAddress;
    }
    return machine().sticky == cudaSuccess ? seen_by(device, address) : nullptr;
}

void copy_by_kernel(int device, void* to, const void* from, std::uint64_t bytes)
{
    constexpr std::uint64_t alignment = 16;
    if (reached(device, to, bytes, alignment) != nullptr && reached(device, from, bytes, alignment) != nullptr) {
        copy_directly(device, to, from, bytes);
    }
}

double ms_by_kernel(int device, const void* to, const void* from, std::uint64_t bytes)
{
    return ms_over(device, to, from, bytes);
}

cudaError_t push_copy(cudaStream_t stream, void* to, const void* from, std::uint64_t bytes)
{
    const int device = of(stream).device;
    return push(stream, ms_over(mover_of(device, to, from), to, from, bytes),
                [=] { copy_by_engine(device, to, from, bytes); });
}

void copy_by_engine(int device, void* to, const void* from, std::uint64_t bytes)
{
    const auto* const into = range_of(to);
    const auto* const out_of = range_of(from);
    const int mover = mover_of(device, to, from);
    const bool between = into != nullptr && out_of != nullptr && into->second.home && out_of->second.home &&
                         into->second.home != out_of->second.home;
    if (between && has_access(mover, into->second) && has_access(mover, out_of->second)) {
        copy_directly(mover, to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}

bool is_managed(const void* address, std::size_t bytes)
{
    const auto* const range = range_of(address);
    return range != nullptr && range->second.is_managed &&
           static_cast<const std::byte*>(address) + bytes <= range->first + range->second.bytes;
}

std::size_t held_on(int device)
{
    std::size_t bytes = 0;
    for (const auto& [address, range] : machine().ranges) {
        bytes += range.home == device ? range.bytes : 0;
    }
    return bytes;
}

cudaError_t give(void** made, const Range& range)
{
    constexpr std::size_t alignment = 256;
    constexpr std::size_t most = std::size_t{1} << 40U;  // of host memory
    const std::size_t room = range.home ? machine().devices.memory_bytes - held_on(*range.home) : most;
    if (range.bytes > room) {
        return answer(cudaErrorMemoryAllocation);
    }
    void* const data = std::aligned_alloc(alignment, (range.bytes + alignment - 1) / alignment * alignment);
    machine().ranges[static_cast<std::byte*>(data)] = range;
    *made = data;
    return cudaSuccess;
}

cudaError_t give_twice(void** made, std::size_t bytes)
{
    if (bytes > machine().devices.memory_bytes) {
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
    finish_everything();
    auto* const data = static_cast<std::byte*>(address);
    const auto found = machine().ranges.extract(data);
    if (found.empty()) {
        return answer(cudaErrorInvalidValue);
    }
    const Range& range = found.mapped();
    if (range.other == nullptr) {
        std::free(data);
        return cudaSuccess;
    }
    machine().ranges.erase(range.other);
    ::munmap(data, range.bytes);
    ::munmap(range.other, range.bytes);
    return cudaSuccess;
}

Holdings holdings()
{
    const auto lock = hold_machine();
    Holdings held{
        .pools = machine().pools.size(), .streams = machine().streams.size(), .events = machine().events.size()};
    for (const auto& [address, range] : machine().ranges) {
        held.registrations += range.is_registered ? 1 : 0;
        held.blocks += range.is_registered || (range.other != nullptr && range.kernels_reach) ? 0 : 1;
    }
    return held;
}

void reset(const Devices& devices)
{
    const auto lock = hold_machine();
    Machine& here = machine();
    here.devices = devices;
    here.accesses.clear();
    here.calls.clear();
    here.failing.clear();
    here.sticky = last_error = cudaSuccess;
    chosen_device = 0;
    // The management library is another one, which is opened by its name.
    ::setenv("MEMSWEEP_INVENTED_MIG", devices.partitioned ? "1" : "0", 1);
    std::string nodes;
    for (const int node : devices.nodes) {
        nodes += std::to_string(node) + ' ';
    }
    ::setenv("MEMSWEEP_INVENTED_NODES", nodes.c_str(), 1);
}

std::size_t calls_of(const std::string& function)
{
    const auto lock = hold_machine();
    return machine().calls[function];
}

void fail_next(const std::string& function, cudaError_t code)
{
    const auto lock = hold_machine();
    machine().failing[function] = code;
}

cudaError_t remembered()
{
    const auto lock = hold_machine();
    return machine().sticky == cudaSuccess ? last_error : machine().sticky;
}

void break_with(cudaError_t code)
{
    const auto lock = hold_machine();
    machine().sticky = code;
}

}  // namespace memsweep::tests::fake_cudart
