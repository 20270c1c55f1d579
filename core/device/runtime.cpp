#include "core/device/runtime.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

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

base::Expected<void> Runtime::advise(std::uint32_t /*device*/, MemoryId /*managed*/, Advice /*advice*/)
{
    return base::fail(base::ErrorCode::not_supported, "this runtime takes no advice about managed memory");
}

base::Expected<std::uint64_t> Runtime::free_bytes(std::uint32_t /*device*/) const
{
    return base::fail(base::ErrorCode::not_supported,
                      "this runtime does not tell how much of a device's memory is free");
}

base::Expected<StreamId> Runtime::open_urgent_stream(std::uint32_t /*device*/)
{
    return base::fail(base::ErrorCode::not_supported, "this device has streams of one priority alone");
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

base::Expected<Stream> open_urgent_stream(Runtime& runtime, std::uint32_t device)
{
    return runtime.open_urgent_stream(device).map([&](StreamId id) { return Stream{runtime, id}; });
}

base::Expected<Event> record(Runtime& runtime, const Stream& stream)
{
    return runtime.record(stream.id()).map([&](EventId id) { return Event{runtime, id}; });
}

base::Expected<Latch> hold(Runtime& runtime, const Stream& stream)
{
    return runtime.hold(stream.id()).map([&](LatchId id) { return Latch{runtime, id}; });
}

base::Expected<Mismatch> check_by_host(Runtime& runtime, StreamId stream, Address from, std::uint64_t bytes,
                                       Pattern pattern)
{
    constexpr std::uint64_t part_bytes = 4U << 20U;
    constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
    std::vector<std::byte> scratch(std::min(part_bytes, bytes));
    Mismatch all;
    for (std::uint64_t done = 0; done < bytes; done += scratch.size()) {
        const std::span part{scratch.data(), std::min<std::uint64_t>(scratch.size(), bytes - done)};
        Address source = from;
        source.offset_bytes += done;
        MEMSWEEP_TRY(runtime.copy(stream, at(part.data()), source, part.size()));
        MEMSWEEP_TRY(runtime.wait(stream));
        const Mismatch found =
            check_pattern(part, {.seed = pattern.seed, .first_word = pattern.first_word + done / word_bytes});
        all.first_byte = all.words == 0 ? done + found.first_byte : all.first_byte;
        all.words += found.words;
    }
    return all;
}

}  // namespace memsweep::device
