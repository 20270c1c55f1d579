// Streams of CUDA: copies, kernels, events, latches.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "core/device/cuda/kernels.hpp"
#include "core/device/cuda/runtime.hpp"

namespace memsweep::device::MEMSWEEP_API {
namespace {

using base::ErrorCode;

constexpr std::uint64_t latch_words = 256;  // of a stream: so many latches may be open at once

// Of the device that is chosen: the lower the number, the sooner its kernels get a processor that is free.
base::Expected<int> most_urgent()
{
    int least = 0;
    int greatest = 0;
    return outcome("cudaDeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange(&least, &greatest)).map([&] {
        return greatest;
    });
}

// A word that host and device share is written after all that was written before it, and read before all that follows.
void store_word(volatile std::uint64_t* word, std::uint64_t value)
{
    std::atomic_ref{*const_cast<std::uint64_t*>(word)}.store(value, std::memory_order_release);
}

std::uint64_t load_word(const volatile std::uint64_t* word)
{
    return std::atomic_ref{*const_cast<std::uint64_t*>(word)}.load(std::memory_order_acquire);
}

}  // namespace

// Whatever a latch could deadlock with is obtained here: kernels, the words it polls, the counters of checks.
base::Expected<Stream> CudaRuntime::prepare(std::uint32_t device, bool is_urgent)
{
    Stream made{.device = device};
    void* found = nullptr;
    const auto done =
        choose(device)
            .and_then([&] { return outcome("cudaFuncGetAttributes", preload_kernels(made.grids)); })
            .and_then([&] {
                const auto priority = is_urgent ? most_urgent() : base::Expected<int>{0};
                return priority.and_then([&](int number) {
                    return outcome("cudaStreamCreateWithPriority",
                                   cudaStreamCreateWithPriority(&made.stream, cudaStreamNonBlocking, number));
                });
            })
            .and_then([&] { return outcome("cudaMalloc", cudaMalloc(&found, 2 * sizeof *made.found)); })
            .and_then([&] { return allocate_on_host(2 * latch_words * word_bytes, cudaHostAllocDefault); })
            .map([&](HostMemory words) { made.words = words; });
    made.found = static_cast<unsigned long long*>(found);
    if (!done) {
        dismantle(made);
        return base::fail(done.error());
    }
    std::memset(made.words.host, 0, 2 * latch_words * word_bytes);
    return made;
}

bool CudaRuntime::has_priorities(std::uint32_t device) const
{
    return device < found_.size() && found_[device].has_priorities;
}

base::Expected<StreamId> CudaRuntime::open_urgent_stream(std::uint32_t device)
{
    if (!has_priorities(device)) {
        return base::fail(ErrorCode::not_supported, "this device has streams of one priority alone");
    }
    return prepare(device, true).map([&](const Stream& made) { return keep(streams_, made); });
}

void CudaRuntime::dismantle(const Stream& stream) const
{
    if (stream.stream != nullptr) {
        forget_failure(cudaStreamDestroy(stream.stream));
    }
    if (stream.found != nullptr) {
        forget_failure(cudaFree(stream.found));
    }
    if (stream.words.host != nullptr) {
        forget_failure(cudaFreeHost(stream.words.host));
    }
}

base::Expected<void> CudaRuntime::finish(const Stream& stream)
{
    MEMSWEEP_TRY(choose(stream.device));
    return outcome("cudaStreamSynchronize", cudaStreamSynchronize(stream.stream));
}

base::Expected<void> CudaRuntime::queue_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes)
{
    MEMSWEEP_TRY(choose(on.device));
    if (!to.on_host && !from.on_host && to.device != from.device) {
        return outcome("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(to.data, static_cast<int>(to.device), from.data,
                                                                  static_cast<int>(from.device), bytes, on.stream));
    }
    return outcome("cudaMemcpyAsync",
                   cudaMemcpyAsync(to.on_host ? to.host : to.data, from.on_host ? from.host : from.data, bytes,
                                   cudaMemcpyDefault, on.stream));
}

base::Expected<void> CudaRuntime::queue_fill(const Stream& on, const End& to, std::byte value, std::uint64_t bytes)
{
    MEMSWEEP_TRY(check_direct(on, to));
    MEMSWEEP_TRY(choose(on.device));
    return outcome("cudaMemsetAsync", cudaMemsetAsync(to.data, std::to_integer<int>(value), bytes, on.stream));
}

base::Expected<void> CudaRuntime::check_direct(const Stream& on, const End& end) const
{
    if (end.on_host || end.device == on.device) {
        return {};
    }
    if (end.is_pooled) {
        return base::fail(ErrorCode::not_supported, "memory of a device's pool is not opened to other devices");
    }
    {
        const std::lock_guard lock{mutex_};
        if (direct_.contains({on.device, end.device})) {
            return {};
        }
    }
    return base::fail(ErrorCode::not_supported, peer(on.device, end.device).reason);
}

base::Expected<void> CudaRuntime::queue_kernel_copy(const Stream& on, const End& to, const End& from,
                                                    std::uint64_t bytes)
{
    MEMSWEEP_TRY(check_direct(on, to));
    MEMSWEEP_TRY(check_direct(on, from));
    MEMSWEEP_TRY(choose(on.device));
    return outcome("copy kernel", MEMSWEEP_API::queue_copy(on.stream, on.grids.copy, to.data, from.data, bytes));
}

base::Expected<void> CudaRuntime::share_device(StreamId stream, std::uint32_t streams)
{
    const std::lock_guard lock{mutex_};
    const auto found = streams_.find(stream);
    if (found == streams_.end() || streams == 0) {
        return base::fail(ErrorCode::invalid_input, "share_device: there is no such stream, or none to share with");
    }
    unsigned& blocks = found->second.grids.copy;
    blocks = std::max(blocks / streams, 1U);
    return {};
}

base::Expected<void> CudaRuntime::queue_follow(const Stream& on, const End& chain, std::uint64_t loads,
                                               const End& place)
{
    MEMSWEEP_TRY(check_direct(on, chain));
    MEMSWEEP_TRY(choose(on.device));
    return outcome("follow kernel", MEMSWEEP_API::queue_follow(on.stream, chain.data, loads, place.data));
}

base::Expected<void> CudaRuntime::queue_prefetch(const Stream& on, const End& managed, std::uint64_t bytes, Side to)
{
    const auto number = static_cast<int>(on.device);
    MEMSWEEP_TRY(choose(on.device));
    return outcome("cudaMemPrefetchAsync",
                   to == Side::host ? prefetch_to_host(managed.data, bytes, facts_[on.device].numa_node, on.stream)
                                    : MEMSWEEP_API::prefetch(managed.data, bytes, on_device(number), on.stream));
}

base::Expected<void> CudaRuntime::queue_pattern(const Stream& on, const End& to, std::uint64_t bytes, Pattern pattern)
{
    MEMSWEEP_TRY(check_direct(on, to));
    MEMSWEEP_TRY(choose(on.device));
    return outcome("pattern kernel", MEMSWEEP_API::queue_pattern(on.stream, on.grids.pattern, to.data, bytes, pattern));
}

base::Expected<Mismatch> CudaRuntime::found_mismatch(StreamId stream, const Stream& on, const End& from,
                                                     std::uint64_t bytes, Pattern pattern)
{
    unsigned long long result[2] = {0, std::numeric_limits<unsigned long long>::max()};
    MEMSWEEP_TRY(check_direct(on, from));
    MEMSWEEP_TRY(choose(on.device));
    MEMSWEEP_TRY(outcome("cudaMemcpyAsync",
                         cudaMemcpyAsync(on.found, result, sizeof result, cudaMemcpyHostToDevice, on.stream)));
    MEMSWEEP_TRY(outcome("check kernel", queue_check(on.stream, on.grids.check, from.data, bytes, pattern, on.found)));
    MEMSWEEP_TRY(wait(stream));
    MEMSWEEP_TRY(outcome("cudaMemcpy", cudaMemcpy(result, on.found, sizeof result, cudaMemcpyDeviceToHost)));
    return Mismatch{.words = result[0], .first_byte = result[0] == 0 ? 0 : result[1] * word_bytes};
}

base::Expected<EventId> CudaRuntime::record(StreamId stream)
{
    const auto found = MEMSWEEP_TRY(find(stream));
    MEMSWEEP_TRY(choose(found.device));
    const Event made{.device = found.device, .event = MEMSWEEP_TRY(take_event(found.device))};
    if (const cudaError_t code = cudaEventRecord(made.event, found.stream); code != cudaSuccess) {
        put_back(made);
        return base::fail(failure("cudaEventRecord", code));
    }
    return keep(events_, made);
}

// For the device that is chosen.
base::Expected<cudaEvent_t> CudaRuntime::take_event(std::uint32_t device)
{
    {
        const std::lock_guard lock{mutex_};
        std::vector<cudaEvent_t>& idle = idle_events_[device];
        if (!idle.empty()) {
            cudaEvent_t event = idle.back();
            idle.pop_back();
            return event;
        }
    }
    cudaEvent_t made = nullptr;
    MEMSWEEP_TRY(outcome("cudaEventCreate", cudaEventCreateWithFlags(&made, cudaEventDefault)));
    return made;
}

void CudaRuntime::put_back(const Event& event)
{
    const std::lock_guard lock{mutex_};
    idle_events_[event.device].push_back(event.event);
}

base::Expected<void> CudaRuntime::close(EventId event)
{
    put_back(MEMSWEEP_TRY(take(events_, event, "there is no such event")));
    return {};
}

base::Expected<void> CudaRuntime::wait(EventId event)
{
    return outcome("cudaEventSynchronize", cudaEventSynchronize(MEMSWEEP_TRY(find(event)).event));
}

base::Expected<bool> CudaRuntime::happened(EventId event)
{
    const cudaError_t code = cudaEventQuery(MEMSWEEP_TRY(find(event)).event);
    if (code == cudaErrorNotReady) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    return code == cudaSuccess ? base::Expected<bool>{true} : base::fail(failure("cudaEventQuery", code));
}

base::Expected<void> CudaRuntime::queue_wait(const Stream& on, const Event& event)
{
    MEMSWEEP_TRY(choose(on.device));
    return outcome("cudaStreamWaitEvent", cudaStreamWaitEvent(on.stream, event.event, 0));
}

base::Expected<double> CudaRuntime::seconds_of(const Event& first, const Event& second)
{
    float milliseconds = 0;
    const cudaError_t code = cudaEventElapsedTime(&milliseconds, first.event, second.event);
    if (code != cudaSuccess) {
        return base::fail(failure("cudaEventElapsedTime", code));
    }
    return static_cast<double>(milliseconds) * 1e-3;
}

base::Expected<LatchId> CudaRuntime::hold(StreamId stream)
{
    const auto found = MEMSWEEP_TRY(find(stream));
    if (const char* const blocks = std::getenv(launch_blocking); blocks != nullptr && std::string_view{blocks} != "0") {
        return base::fail(
            ErrorCode::not_supported,
            fmt::format("{}={} lets nothing be queued behind a kernel that holds a stream: unset it to measure streams",
                        launch_blocking, blocks));
    }
    Latch made{.stream = stream};
    {
        const std::lock_guard lock{mutex_};
        made.value = ++streams_.at(stream).holds;
    }
    const std::uint64_t word = made.value % latch_words;
    made.word = reinterpret_cast<volatile std::uint64_t*>(found.words.host) + word;
    made.gave_up = made.word + latch_words;
    auto* const on_device = reinterpret_cast<volatile std::uint64_t*>(found.words.device) + word;
    MEMSWEEP_TRY(choose(found.device));
    MEMSWEEP_TRY(outcome("latch kernel", queue_latch(found.stream, on_device, made.value, on_device + latch_words)));
    return keep(latches_, made);
}

base::Expected<void> CudaRuntime::close(LatchId latch)
{
    const auto held = MEMSWEEP_TRY(take(latches_, latch, "there is no such latch, or it was closed before"));
    store_word(held.word, held.value);
    return load_word(held.gave_up) == held.value
               ? base::fail(ErrorCode::timeout, "the latch held for ten seconds and let the stream go on by itself")
               : base::Expected<void>{};
}

}  // namespace memsweep::device::MEMSWEEP_API
