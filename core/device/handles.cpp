#include "core/device/handles.hpp"

namespace memsweep::device {

base::Expected<Memory> allocate(Runtime& runtime, const BlockRequest& request)
{
    return runtime.allocate(request).map([&](RawBlock raw) {
        return Memory{runtime, raw, request.kind, request.device, request.bytes};
    });
}

base::Expected<Memory> adopt(Runtime& runtime, std::uint32_t device, void* ordinary, std::uint64_t bytes)
{
    return runtime.adopt(device, ordinary, bytes).map([&](RawBlock raw) {
        return Memory{runtime, raw, MemoryKind::registered, device, bytes};
    });
}

base::Expected<Stream> open_stream(Runtime& runtime, std::uint32_t device)
{
    return runtime.open_stream(device).map([&](StreamId id) { return Stream{runtime, id}; });
}

base::Expected<Event> record(Runtime& runtime, const Stream& stream)
{
    return runtime.record(stream.id()).map([&](EventId id) { return Event{runtime, id}; });
}

base::Expected<Latch> hold(Runtime& runtime, const Stream& stream)
{
    return runtime.hold(stream.id()).map([&](LatchId id) { return Latch{runtime, id}; });
}

}  // namespace memsweep::device
