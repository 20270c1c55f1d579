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
constexpr std::uint64_t word_bytes = 8;
constexpr std::uint64_t quad_bytes = 16;

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

base::Expected<void> CudaRuntime::copy(StreamId stream, Address to, Address from, std::uint64_t bytes)
{
    const auto found = find(stream);
    const auto into = end_of(to, bytes);
    const auto out_of = end_of(from, bytes);
    if (const auto* const error = base::first_error(found, into, out_of)) {
        return base::fail(*error);
    }
    if (bytes == 0) {
        return {};
    }
    return choose(found->device).and_then([&] {
        if (!into->on_host && !out_of->on_host && into->device != out_of->device) {
            return outcome("cudaMemcpyPeerAsync",
                           cudaMemcpyPeerAsync(into->data, static_cast<int>(into->device), out_of->data,
                                               static_cast<int>(out_of->device), bytes, found->stream));
        }
        return outcome("cudaMemcpyAsync",
                       cudaMemcpyAsync(into->data, out_of->data, bytes, cudaMemcpyDefault, found->stream));
    });
}

base::Expected<void> CudaRuntime::fill(StreamId stream, Address to, std::byte value, std::uint64_t bytes)
{
    const auto found = find(stream);
    const auto into = end_of(to, bytes);
    if (const auto* const error = base::first_error(found, into)) {
        return base::fail(*error);
    }
    if (bytes == 0) {
        return {};
    }
    if (!into->kernels_reach) {  // ordinary memory: in its turn, but by the processor
        return wait(stream).map([&] { std::fill_n(into->data, bytes, value); });
    }
    return choose(found->device).and_then([&] {
        return outcome("cudaMemsetAsync",
                       cudaMemsetAsync(into->data, std::to_integer<int>(value), bytes, found->stream));
    });
}

base::Expected<void> CudaRuntime::copy_by_kernel(StreamId stream, Address to, Address from, std::uint64_t bytes)
{
    const auto found = find(stream);
    const auto into = reach(to, bytes, quad_bytes);
    const auto out_of = reach(from, bytes, quad_bytes);
    if (const auto* const error = base::first_error(found, into, out_of)) {
        return base::fail(*error);
    }
    for (const End& end : {*into, *out_of}) {
        if (!end.on_host && end.device != found->device && !peer(found->device, end.device).direct) {
            return base::fail(ErrorCode::not_supported, peer(found->device, end.device).reason);
        }
    }
    return choose(found->device).and_then([&] {
        return bytes == 0 ? base::Expected<void>{}
                          : outcome("copy kernel", queue_copy(found->stream, into->data, out_of->data, bytes));
    });
}

base::Expected<void> CudaRuntime::follow(StreamId stream, Address chain, std::uint64_t bytes, std::uint64_t loads,
                                         Address place)
{
    const auto found = find(stream);
    const auto links = reach(chain, bytes, word_bytes);
    const auto ended = reach(place, word_bytes, word_bytes);
    if (const auto* const error = base::first_error(found, links, ended)) {
        return base::fail(*error);
    }
    if (!links->on_host && links->device != found->device && !peer(found->device, links->device).direct) {
        return base::fail(ErrorCode::not_supported, peer(found->device, links->device).reason);
    }
    return choose(found->device).and_then([&] {
        return outcome("follow kernel", queue_follow(found->stream, links->data, loads, ended->data));
    });
}

base::Expected<void> CudaRuntime::prefetch(StreamId stream, Address managed, std::uint64_t bytes, Side to)
{
    const auto found = find(stream);
    const auto there = end_of(managed, bytes);
    if (const auto* const error = base::first_error(found, there)) {
        return base::fail(*error);
    }
    if (!there->is_managed) {
        return base::fail(ErrorCode::not_supported, "prefetch: only managed memory moves");
    }
    const auto number = static_cast<int>(found->device);
    return choose(found->device).and_then([&] {
#if CUDART_VERSION >= 13000
        cudaMemLocation where{};
        where.type = to == Side::host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
        where.id = to == Side::host ? 0 : number;
        return outcome("cudaMemPrefetchAsync", cudaMemPrefetchAsync(there->data, bytes, where, 0, found->stream));
#else
        return outcome(
            "cudaMemPrefetchAsync",
            cudaMemPrefetchAsync(there->data, bytes, to == Side::host ? cudaCpuDeviceId : number, found->stream));
#endif
    });
}

base::Expected<void> CudaRuntime::write_pattern(StreamId stream, Address to, std::uint64_t bytes, Pattern pattern)
{
    const auto found = find(stream);
    const auto into = reach(to, bytes, word_bytes);
    if (const auto* const error = base::first_error(found, into)) {
        return base::fail(*error);
    }
    return choose(found->device).and_then([&] {
        return bytes == 0 ? base::Expected<void>{}
                          : outcome("pattern kernel", queue_pattern(found->stream, into->data, bytes, pattern));
    });
}

base::Expected<Mismatch> CudaRuntime::check_pattern(StreamId stream, Address from, std::uint64_t bytes, Pattern pattern)
{
    const auto found = find(stream);
    const auto out_of = reach(from, bytes, word_bytes);
    if (const auto* const error = base::first_error(found, out_of)) {
        return base::fail(*error);
    }
    if (bytes == 0) {
        return Mismatch{};
    }
    unsigned long long result[2] = {0, std::numeric_limits<unsigned long long>::max()};
    return choose(found->device)
        .and_then([&] {
            return outcome("cudaMemcpyAsync",
                           cudaMemcpyAsync(found->found, result, sizeof result, cudaMemcpyHostToDevice, found->stream));
        })
        .and_then([&] {
            return outcome("check kernel", queue_check(found->stream, out_of->data, bytes, pattern, found->found));
        })
        .and_then([&] { return wait(stream); })
        .and_then([&] {
            return outcome("cudaMemcpy", cudaMemcpy(result, found->found, sizeof result, cudaMemcpyDeviceToHost));
        })
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
    const auto found = find(event);
    if (!found) {
        return base::fail(found.error());
    }
    {
        const std::lock_guard lock{mutex_};
        events_.erase(event);
    }
    return choose(found->device).and_then([&] { return outcome("cudaEventDestroy", cudaEventDestroy(found->event)); });
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

base::Expected<void> CudaRuntime::after(StreamId stream, EventId event)
{
    const auto on = find(stream);
    const auto awaited = find(event);
    if (const auto* const error = base::first_error(on, awaited)) {
        return base::fail(*error);
    }
    return choose(on->device).and_then([&] {
        return outcome("cudaStreamWaitEvent", cudaStreamWaitEvent(on->stream, awaited->event, 0));
    });
}

base::Expected<double> CudaRuntime::seconds_between(EventId first, EventId second)
{
    const auto begin = find(first);
    const auto end = find(second);
    if (const auto* const error = base::first_error(begin, end)) {
        return base::fail(*error);
    }
    if (begin->device != end->device) {
        return base::fail(ErrorCode::not_supported, "events of two devices were told by two clocks");
    }
    float milliseconds = 0;
    const cudaError_t code = cudaEventElapsedTime(&milliseconds, begin->event, end->event);
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
    const std::lock_guard lock{mutex_};
    const auto found = latches_.find(latch);
    if (found == latches_.end()) {
        return base::fail(ErrorCode::invalid_input, "there is no such latch, or it was closed before");
    }
    const Latch held = found->second;
    latches_.erase(found);
    *held.word = held.value;
    return *held.gave_up == held.value
               ? base::fail(ErrorCode::timeout, "the latch held for ten seconds and let the stream go on by itself")
               : base::Expected<void>{};
}

}  // namespace memsweep::device::cuda
