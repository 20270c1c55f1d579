// Queues of OpenCL: copies, events, latches.
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/device/opencl/runtime.hpp"

namespace memsweep::device::opencl {
namespace {

using base::ErrorCode;

constexpr std::size_t max_remembered = 1024;  // commands of a stream whose outcome nobody has asked for

}  // namespace

base::Expected<Stream> OpenClRuntime::prepare(std::uint32_t device)
{
    return new_queue(device).map(
        [&](cl_command_queue queue) { return std::make_shared<Queue>(Queue{.device = device, .queue = queue}); });
}

base::Expected<void> OpenClRuntime::finish(const Stream& stream)
{
    base::Expected<void> all = outcome("clFinish", api_.finish(stream->queue));
    for (const Queued& one : stream->queued) {
        cl_int status = CL_COMPLETE;
        api_.event_info(one.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        if (status < 0 && all) {
            all = base::fail(failure(one.call, status));
        }
        api_.release_event(one.event);
    }
    stream->queued.clear();
    return all;
}

void OpenClRuntime::forget_done(Queue& queue)
{
    if (queue.queued.size() < max_remembered) {
        return;
    }
    std::erase_if(queue.queued, [&](const Queued& one) {
        cl_int status = CL_QUEUED;
        api_.event_info(one.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        if (status == CL_COMPLETE) {
            api_.release_event(one.event);
        }
        return status == CL_COMPLETE;
    });
}

base::Expected<void> OpenClRuntime::copy(StreamId stream, Address to, Address from, std::uint64_t bytes)
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
    cl_command_queue queue = (*found)->queue;
    cl_event event = nullptr;
    cl_int code = CL_SUCCESS;
    const char* call = "";
    if (into->buffer != nullptr && out_of->buffer != nullptr) {
        if (found_[into->device].platform != found_[out_of->device].platform) {
            return base::fail(ErrorCode::not_supported, peer(out_of->device, into->device).reason);
        }
        call = "clEnqueueCopyBuffer";
        code = api_.copy(queue, out_of->buffer, into->buffer, out_of->offset, into->offset, bytes, 0, nullptr, &event);
    } else if (into->buffer != nullptr) {
        call = "clEnqueueWriteBuffer";
        code = api_.write(queue, into->buffer, CL_FALSE, into->offset, bytes, out_of->host, 0, nullptr, &event);
    } else if (out_of->buffer != nullptr) {
        call = "clEnqueueReadBuffer";
        code = api_.read(queue, out_of->buffer, CL_FALSE, out_of->offset, bytes, into->host, 0, nullptr, &event);
    } else if (api_.svm_copy != nullptr) {
        call = "clEnqueueSVMMemcpy";
        code = api_.svm_copy(queue, CL_FALSE, into->host, out_of->host, bytes, 0, nullptr, &event);
    } else {
        return base::fail(ErrorCode::not_supported, "this OpenCL copies nothing from the host to the host");
    }
    if (code != CL_SUCCESS) {
        return base::fail(failure(call, code));
    }
    forget_done(**found);
    (*found)->queued.push_back({call, event});
    return {};
}

base::Expected<void> OpenClRuntime::fill(StreamId stream, Address to, std::byte value, std::uint64_t bytes)
{
    const auto found = find(stream);
    const auto into = end_of(to, bytes);
    if (const auto* const error = base::first_error(found, into)) {
        return base::fail(*error);
    }
    if (bytes == 0) {
        return {};
    }
    if (into->buffer == nullptr) {  // the host's: in its turn, but by the processor
        return wait(stream).map([&] { std::memset(into->host, std::to_integer<int>(value), bytes); });
    }
    cl_event event = nullptr;
    const cl_int code = api_.fill((*found)->queue, into->buffer, &value, 1, into->offset, bytes, 0, nullptr, &event);
    if (code == CL_SUCCESS) {
        (*found)->queued.push_back({"clEnqueueFillBuffer", event});
    }
    return outcome("clEnqueueFillBuffer", code);
}

base::Expected<void> OpenClRuntime::prefetch(StreamId stream, Address managed, std::uint64_t bytes, Side to)
{
    const auto found = find(stream);
    const auto there = end_of(managed, bytes);
    if (const auto* const error = base::first_error(found, there)) {
        return base::fail(*error);
    }
    if (!there->is_shared || api_.svm_migrate == nullptr) {
        return base::fail(ErrorCode::not_supported, there->is_shared
                                                        ? "this OpenCL moves shared virtual memory on demand alone"
                                                        : "prefetch: only managed memory moves");
    }
    const void* first = there->host;
    const std::size_t size = bytes;
    cl_event event = nullptr;
    const cl_int code =
        api_.svm_migrate((*found)->queue, 1, &first, &size,
                         to == Side::host ? CL_MIGRATE_MEM_OBJECT_HOST : cl_mem_migration_flags{0}, 0, nullptr, &event);
    if (code == CL_SUCCESS) {
        forget_done(**found);
        (*found)->queued.push_back({"clEnqueueSVMMigrateMem", event});
    }
    return outcome("clEnqueueSVMMigrateMem", code);
}

base::Expected<EventId> OpenClRuntime::record(StreamId stream)
{
    return find(stream).and_then([&](const Stream& found) -> base::Expected<EventId> {
        Event made{.device = found->device};
        cl_int code = api_.marker(found->queue, 0, nullptr, &made.event);
        if (code != CL_SUCCESS) {
            return base::fail(failure("clEnqueueMarkerWithWaitList", code));
        }
        code = api_.flush(found->queue);  // other queues may wait for it
        const EventId id = keep(events_, made);
        return code == CL_SUCCESS ? base::Expected<EventId>{id} : base::fail(failure("clFlush", code));
    });
}

base::Expected<void> OpenClRuntime::close(EventId event)
{
    const std::lock_guard lock{mutex_};
    const auto found = events_.find(event);
    if (found == events_.end()) {
        return base::fail(ErrorCode::invalid_input, "there is no such event");
    }
    const cl_int code = api_.release_event(found->second.event);
    events_.erase(found);
    return outcome("clReleaseEvent", code);
}

base::Expected<void> OpenClRuntime::wait(EventId event)
{
    return find(event).and_then(
        [&](const Event& found) { return outcome("clWaitForEvents", api_.wait_for_events(1, &found.event)); });
}

base::Expected<bool> OpenClRuntime::happened(EventId event)
{
    return find(event).and_then([&](const Event& found) -> base::Expected<bool> {
        cl_int status = CL_QUEUED;
        const cl_int code =
            api_.event_info(found.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        if (code != CL_SUCCESS || status < 0) {
            return base::fail(failure("clGetEventInfo", code != CL_SUCCESS ? code : status));
        }
        return status == CL_COMPLETE;
    });
}

base::Expected<void> OpenClRuntime::after(StreamId stream, EventId event)
{
    const auto on = find(stream);
    const auto awaited = find(event);
    if (const auto* const error = base::first_error(on, awaited)) {
        return base::fail(*error);
    }
    if (found_[(*on)->device].platform != found_[awaited->device].platform) {
        return base::fail(ErrorCode::not_supported, peer((*on)->device, awaited->device).reason);
    }
    return outcome("clEnqueueBarrierWithWaitList", api_.barrier((*on)->queue, 1, &awaited->event, nullptr));
}

base::Expected<double> OpenClRuntime::seconds_between(EventId first, EventId second)
{
    const auto begin = find(first);
    const auto end = find(second);
    if (const auto* const error = base::first_error(begin, end)) {
        return base::fail(*error);
    }
    if (begin->device != end->device) {
        return base::fail(ErrorCode::not_supported, "events of two devices were told by two clocks");
    }
    cl_ulong begin_ns = 0;
    cl_ulong end_ns = 0;
    cl_int code = api_.profiling_info(begin->event, CL_PROFILING_COMMAND_END, sizeof begin_ns, &begin_ns, nullptr);
    if (code == CL_SUCCESS) {
        code = api_.profiling_info(end->event, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, nullptr);
    }
    if (code != CL_SUCCESS) {
        return base::fail(failure("clGetEventProfilingInfo", code));
    }
    return (static_cast<double>(end_ns) - static_cast<double>(begin_ns)) * 1e-9;
}

base::Expected<LatchId> OpenClRuntime::hold(StreamId stream)
{
    const auto found = find(stream);
    if (!found) {
        return base::fail(found.error());
    }
    const auto context = context_of((*found)->device);
    cl_int code = CL_SUCCESS;
    Latch made{.stream = stream, .event = context ? api_.create_user_event(*context, &code) : nullptr};
    if (!context || code != CL_SUCCESS) {
        return base::fail(context ? failure("clCreateUserEvent", code) : context.error());
    }
    code = api_.barrier((*found)->queue, 1, &made.event, nullptr);
    if (code != CL_SUCCESS) {
        api_.release_event(made.event);
        return base::fail(failure("clEnqueueBarrierWithWaitList", code));
    }
    return keep(latches_, made);
}

base::Expected<void> OpenClRuntime::close(LatchId latch)
{
    Latch found;
    {
        const std::lock_guard lock{mutex_};
        const auto at = latches_.find(latch);
        if (at == latches_.end()) {
            return base::fail(ErrorCode::invalid_input, "there is no such latch, or it was closed before");
        }
        found = at->second;
        latches_.erase(at);
    }
    const cl_int code = api_.set_user_event(found.event, CL_COMPLETE);
    api_.release_event(found.event);
    return outcome("clSetUserEventStatus", code);
}

}  // namespace memsweep::device::opencl
