// Streams of CUDA: copies, kernels, events, latches.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/device/cuda/kernels.hpp"
#include "core/device/cuda/runtime.hpp"

namespace memsweep::device::cuda {
namespace {

using base::ErrorCode;

constexpr std::uint64_t latch_words = 256;  // of a stream: so many latches may be open at once

}  // namespace

// Whatever a latch could deadlock with is obtained here: kernels, the words it polls, the counters of checks.
base::Expected<Stream> CudaRuntime::prepare(std::uint32_t device)
{
    Stream made{.device = device};
    void* words = nullptr;
    void* found = nullptr;
    const auto done =
        choose(device)
            .and_then([] { return outcome("cudaFuncGetAttributes", preload_kernels()); })
            .and_then([&] {
                return outcome("cudaStreamCreateWithFlags",
                               cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking));
            })
            .and_then([&] { return outcome("cudaMalloc", cudaMalloc(&found, 2 * sizeof *made.found)); })
            .and_then([&] {
                return outcome("cudaHostAlloc", cudaHostAlloc(&words, 2 * latch_words * word_bytes,
                                                              cudaHostAllocPortable | cudaHostAllocMapped));
            });
    made.found = static_cast<unsigned long long*>(found);
    made.words = static_cast<volatile std::uint64_t*>(words);
    if (!done) {
        dismantle(made);
        return base::fail(done.error());
    }
    for (std::uint64_t i = 0; i < 2 * latch_words; ++i) {
        made.words[i] = 0;
    }
    return made;
}

void CudaRuntime::dismantle(const Stream& stream) const
{
    if (stream.stream != nullptr) {
        cudaStreamDestroy(stream.stream);
    }
    if (stream.found != nullptr) {
        cudaFree(stream.found);
    }
    if (stream.words != nullptr) {
        cudaFreeHost(const_cast<std::uint64_t*>(stream.words));
    }
    static_cast<void>(cudaGetLastError());
}

base::Expected<void> CudaRuntime::finish(const Stream& stream)
{
    return choose(stream.device).and_then([&] {
        return outcome("cudaStreamSynchronize", cudaStreamSynchronize(stream.stream));
    });
}

base::Expected<void> CudaRuntime::queue_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes)
{
    return choose(on.device).and_then([&] {
        if (!to.on_host && !from.on_host && to.device != from.device) {
            return outcome("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(to.data, static_cast<int>(to.device), from.data,
                                                                      static_cast<int>(from.device), bytes, on.stream));
        }
        return outcome("cudaMemcpyAsync", cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDefault, on.stream));
    });
}

base::Expected<void> CudaRuntime::queue_fill(const Stream& on, const End& to, std::byte value, std::uint64_t bytes)
{
    return choose(on.device).and_then([&] {
        return outcome("cudaMemsetAsync", cudaMemsetAsync(to.data, std::to_integer<int>(value), bytes, on.stream));
    });
}

base::Expected<void> CudaRuntime::check_direct(const Stream& on, const End& end) const
{
    const bool is_own = end.on_host || end.device == on.device;
    return is_own || peer(on.device, end.device).direct
               ? base::Expected<void>{}
               : base::fail(ErrorCode::not_supported, peer(on.device, end.device).reason);
}

base::Expected<void> CudaRuntime::queue_kernel_copy(const Stream& on, const End& to, const End& from,
                                                    std::uint64_t bytes)
{
    return check_direct(on, to)
        .and_then([&] { return check_direct(on, from); })
        .and_then([&] { return choose(on.device); })
        .and_then([&] { return outcome("copy kernel", cuda::queue_copy(on.stream, to.data, from.data, bytes)); });
}

base::Expected<void> CudaRuntime::queue_follow(const Stream& on, const End& chain, std::uint64_t loads,
                                               const End& place)
{
    return check_direct(on, chain).and_then([&] { return choose(on.device); }).and_then([&] {
        return outcome("follow kernel", cuda::queue_follow(on.stream, chain.data, loads, place.data));
    });
}

base::Expected<void> CudaRuntime::queue_prefetch(const Stream& on, const End& managed, std::uint64_t bytes, Side to)
{
    const auto number = static_cast<int>(on.device);
    return choose(on.device).and_then([&] {
#if CUDART_VERSION >= 13000
        cudaMemLocation where{};
        where.type = to == Side::host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
        where.id = to == Side::host ? 0 : number;
        return outcome("cudaMemPrefetchAsync", cudaMemPrefetchAsync(managed.data, bytes, where, 0, on.stream));
#else
        return outcome(
            "cudaMemPrefetchAsync",
            cudaMemPrefetchAsync(managed.data, bytes, to == Side::host ? cudaCpuDeviceId : number, on.stream));
#endif
    });
}

base::Expected<void> CudaRuntime::queue_pattern(const Stream& on, const End& to, std::uint64_t bytes, Pattern pattern)
{
    return choose(on.device).and_then(
        [&] { return outcome("pattern kernel", cuda::queue_pattern(on.stream, to.data, bytes, pattern)); });
}

base::Expected<Mismatch> CudaRuntime::found_mismatch(StreamId stream, const Stream& on, const End& from,
                                                     std::uint64_t bytes, Pattern pattern)
{
    unsigned long long result[2] = {0, std::numeric_limits<unsigned long long>::max()};
    return choose(on.device)
        .and_then([&] {
            return outcome("cudaMemcpyAsync",
                           cudaMemcpyAsync(on.found, result, sizeof result, cudaMemcpyHostToDevice, on.stream));
        })
        .and_then([&] { return outcome("check kernel", queue_check(on.stream, from.data, bytes, pattern, on.found)); })
        .and_then([&] { return wait(stream); })
        .and_then(
            [&] { return outcome("cudaMemcpy", cudaMemcpy(result, on.found, sizeof result, cudaMemcpyDeviceToHost)); })
        .map([&] { return Mismatch{.words = result[0], .first_byte = result[0] == 0 ? 0 : result[1] * word_bytes}; });
}

base::Expected<EventId> CudaRuntime::record(StreamId stream)
{
    const auto found = find(stream);
    if (!found) {
        return base::fail(found.error());
    }
    Event made{.device = found->device};
    const auto done =
        choose(found->device)
            .and_then(
                [&] { return outcome("cudaEventCreate", cudaEventCreateWithFlags(&made.event, cudaEventDefault)); })
            .and_then([&] { return outcome("cudaEventRecord", cudaEventRecord(made.event, found->stream)); });
    if (!done) {
        return base::fail(done.error());
    }
    return keep(events_, made);
}

base::Expected<void> CudaRuntime::close(EventId event)
{
    return take(events_, event, "there is no such event").and_then([&](const Event& taken) {
        return choose(taken.device).and_then([&] {
            return outcome("cudaEventDestroy", cudaEventDestroy(taken.event));
        });
    });
}

base::Expected<void> CudaRuntime::wait(EventId event)
{
    return find(event).and_then(
        [](const Event& found) { return outcome("cudaEventSynchronize", cudaEventSynchronize(found.event)); });
}

base::Expected<bool> CudaRuntime::happened(EventId event)
{
    return find(event).and_then([](const Event& found) -> base::Expected<bool> {
        const cudaError_t code = cudaEventQuery(found.event);
        if (code == cudaErrorNotReady) {
            static_cast<void>(cudaGetLastError());
            return false;
        }
        return code == cudaSuccess ? base::Expected<bool>{true} : base::fail(failure("cudaEventQuery", code));
    });
}

base::Expected<void> CudaRuntime::queue_wait(const Stream& on, const Event& event)
{
    return choose(on.device).and_then(
        [&] { return outcome("cudaStreamWaitEvent", cudaStreamWaitEvent(on.stream, event.event, 0)); });
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
    const auto found = find(stream);
    if (!found) {
        return base::fail(found.error());
    }
    Latch made{.stream = stream};
    {
        const std::lock_guard lock{mutex_};
        made.value = ++streams_.at(stream).holds;
    }
    made.word = found->words + made.value % latch_words;
    made.gave_up = made.word + latch_words;
    const auto done = choose(found->device).and_then([&] {
        return outcome("latch kernel", queue_latch(found->stream, made.word, made.value, made.gave_up));
    });
    if (!done) {
        return base::fail(done.error());
    }
    return keep(latches_, made);
}

base::Expected<void> CudaRuntime::close(LatchId latch)
{
    return take(latches_, latch, "there is no such latch, or it was closed before")
        .and_then([](const Latch& held) -> base::Expected<void> {
            *held.word = held.value;
            if (*held.gave_up == held.value) {
                return base::fail(ErrorCode::timeout,
                                  "the latch held for ten seconds and let the stream go on by itself");
            }
            return {};
        });
}

}  // namespace memsweep::device::cuda
