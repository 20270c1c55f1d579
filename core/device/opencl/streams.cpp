// Queues of OpenCL: copies, events, latches.

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

base::Expected<void> OpenClRuntime::queued(Queue& queue, const char* call, cl_int code, cl_event event)
{
    if (code == CL_SUCCESS) {
        forget_done(queue);
        queue.queued.push_back({call, event});
    }
    return outcome(call, code);
}

base::Expected<void> OpenClRuntime::queue_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes)
{
    cl_command_queue queue = on->queue;
    cl_event event = nullptr;
    cl_int code = CL_SUCCESS;
    if (to.buffer != nullptr && from.buffer != nullptr) {
        if (found_[to.device].platform != found_[from.device].platform) {
            return base::fail(ErrorCode::not_supported, peer(from.device, to.device).reason);
        }
        code = api_.copy(queue, from.buffer, to.buffer, from.offset, to.offset, bytes, 0, nullptr, &event);
        return queued(*on, "clEnqueueCopyBuffer", code, event);
    }
    if (to.buffer != nullptr) {
        code = api_.write(queue, to.buffer, CL_FALSE, to.offset, bytes, from.host, 0, nullptr, &event);
        return queued(*on, "clEnqueueWriteBuffer", code, event);
    }
    if (from.buffer != nullptr) {
        code = api_.read(queue, from.buffer, CL_FALSE, from.offset, bytes, to.host, 0, nullptr, &event);
        return queued(*on, "clEnqueueReadBuffer", code, event);
    }
    if (api_.svm_copy == nullptr) {
        return base::fail(ErrorCode::not_supported, "this OpenCL copies nothing from the host to the host");
    }
    code = api_.svm_copy(queue, CL_FALSE, to.host, from.host, bytes, 0, nullptr, &event);
    return queued(*on, "clEnqueueSVMMemcpy", code, event);
}

base::Expected<void> OpenClRuntime::queue_fill(const Stream& on, const End& to, std::byte value, std::uint64_t bytes)
{
    cl_event event = nullptr;
    const cl_int code = api_.fill(on->queue, to.buffer, &value, 1, to.offset, bytes, 0, nullptr, &event);
    return queued(*on, "clEnqueueFillBuffer", code, event);
}

base::Expected<void> OpenClRuntime::queue_prefetch(const Stream& on, const End& managed, std::uint64_t bytes, Side to)
{
    if (api_.svm_migrate == nullptr) {
        return base::fail(ErrorCode::not_supported, "this OpenCL moves shared virtual memory on demand alone");
    }
    const void* first = managed.host;
    const std::size_t size = bytes;
    cl_event event = nullptr;
    const cl_int code =
        api_.svm_migrate(on->queue, 1, &first, &size,
                         to == Side::host ? CL_MIGRATE_MEM_OBJECT_HOST : cl_mem_migration_flags{0}, 0, nullptr, &event);
    return queued(*on, "clEnqueueSVMMigrateMem", code, event);
}

base::Expected<EventId> OpenClRuntime::record(StreamId stream)
{
    const auto found = MEMSWEEP_TRY(find(stream));
    Event made{.device = found->device};
    MEMSWEEP_TRY(outcome("clEnqueueMarkerWithWaitList", api_.marker(found->queue, 0, nullptr, &made.event)));
    const EventId id = keep(events_, made);
    MEMSWEEP_TRY(outcome("clFlush", api_.flush(found->queue)));  // other queues may wait for it
    return id;
}

base::Expected<void> OpenClRuntime::close(EventId event)
{
    const auto closed = MEMSWEEP_TRY(take(events_, event, "there is no such event"));
    return outcome("clReleaseEvent", api_.release_event(closed.event));
}

base::Expected<void> OpenClRuntime::wait(EventId event)
{
    const auto found = MEMSWEEP_TRY(find(event));
    return outcome("clWaitForEvents", api_.wait_for_events(1, &found.event));
}

base::Expected<bool> OpenClRuntime::happened(EventId event)
{
    const auto found = MEMSWEEP_TRY(find(event));
    cl_int status = CL_QUEUED;
    const cl_int code =
        api_.event_info(found.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (code != CL_SUCCESS || status < 0) {
        return base::fail(failure("clGetEventInfo", code != CL_SUCCESS ? code : status));
    }
    return status == CL_COMPLETE;
}

base::Expected<void> OpenClRuntime::queue_wait(const Stream& on, const Event& event)
{
    if (found_[on->device].platform != found_[event.device].platform) {
        return base::fail(ErrorCode::not_supported, peer(on->device, event.device).reason);
    }
    return outcome("clEnqueueBarrierWithWaitList", api_.barrier(on->queue, 1, &event.event, nullptr));
}

base::Expected<double> OpenClRuntime::seconds_of(const Event& first, const Event& second) const
{
    cl_ulong begin_ns = 0;
    cl_ulong end_ns = 0;
    cl_int code = api_.profiling_info(first.event, CL_PROFILING_COMMAND_END, sizeof begin_ns, &begin_ns, nullptr);
    if (code == CL_SUCCESS) {
        code = api_.profiling_info(second.event, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, nullptr);
    }
    if (code != CL_SUCCESS) {
        return base::fail(failure("clGetEventProfilingInfo", code));
    }
    return (static_cast<double>(end_ns) - static_cast<double>(begin_ns)) * 1e-9;
}

base::Expected<LatchId> OpenClRuntime::hold(StreamId stream)
{
    const auto found = MEMSWEEP_TRY(find(stream));
    cl_context context = MEMSWEEP_TRY(context_of(found->device));
    cl_int code = CL_SUCCESS;
    const Latch made{.stream = stream, .event = api_.create_user_event(context, &code)};
    MEMSWEEP_TRY(outcome("clCreateUserEvent", code));
    code = api_.barrier(found->queue, 1, &made.event, nullptr);
    if (code != CL_SUCCESS) {
        api_.release_event(made.event);
        return base::fail(failure("clEnqueueBarrierWithWaitList", code));
    }
    return keep(latches_, made);
}

base::Expected<void> OpenClRuntime::close(LatchId latch)
{
    const auto closed = MEMSWEEP_TRY(take(latches_, latch, "there is no such latch, or it was closed before"));
    const cl_int code = api_.set_user_event(closed.event, CL_COMPLETE);
    api_.release_event(closed.event);
    return outcome("clSetUserEventStatus", code);
}

}  // namespace memsweep::device::opencl
