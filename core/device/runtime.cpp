#include "core/device/runtime.hpp"

#include <array>

namespace memsweep::device {

const std::vector<MemoryKind>& memory_kinds()
{
    static const std::vector<MemoryKind> all{
        MemoryKind::pageable, MemoryKind::pinned, MemoryKind::registered, MemoryKind::write_combined,
        MemoryKind::mapped,   MemoryKind::device, MemoryKind::managed,    MemoryKind::stream_ordered};
    return all;
}

std::string_view name_of(MemoryKind kind) noexcept
{
    constexpr std::array<std::string_view, 8> names{"pageable", "pinned", "registered", "write_combined",
                                                    "mapped",   "device", "managed",    "stream_ordered"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(DeviceClass device_class) noexcept
{
    constexpr std::array<std::string_view, 3> names{"gpu", "cpu", "accelerator"};
    return names.at(static_cast<std::size_t>(device_class));
}

std::optional<double> bytes_per_second(std::uint32_t generation, std::uint32_t lanes) noexcept
{
    constexpr std::array<double, 6> transfers_per_s{2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
    constexpr double payload_bytes = 256;
    constexpr double packet_bytes = payload_bytes + 24;
    if (generation == 0 || generation > transfers_per_s.size() || lanes == 0) {
        return std::nullopt;
    }
    const double flits = 242.0 / 256.0;
    const double encoding = generation <= 2 ? 8.0 / 10.0 : generation <= 5 ? 128.0 / 130.0 : flits;
    return transfers_per_s.at(generation - 1) / 8 * lanes * encoding * payload_bytes / packet_bytes;
}

base::Expected<Memory> allocate(Runtime& runtime, const BlockRequest& request)
{
    return runtime.allocate(request).map([&](RawBlock raw) {
        return Memory{runtime, raw, request.kind, request.bytes};
    });
}

base::Expected<Memory> adopt(Runtime& runtime, std::uint32_t device, void* ordinary, std::uint64_t bytes)
{
    return runtime.adopt(device, ordinary, bytes).map([&](RawBlock raw) {
        return Memory{runtime, raw, MemoryKind::registered, bytes};
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
