#include "core/transfer/end_data.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace memsweep::transfer {
namespace {

using base::Expected;
using device::Mismatch;

constexpr std::uint64_t part_bytes = 4U << 20U;  // whole words
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

using Look = std::function<Mismatch(std::span<const std::byte> part, std::uint64_t offset_bytes)>;

Expected<void> read_part(device::Runtime& runtime, const device::Stream& stream, const EndMemory& end,
                         std::uint64_t offset_bytes, std::span<std::byte> into)
{
    return runtime.copy(stream.id(), device::at(into.data()), end.at(offset_bytes), into.size()).and_then([&] {
        return runtime.wait(stream.id());
    });
}

void add(Mismatch& all, const Mismatch& part, std::uint64_t offset_bytes)
{
    if (all.words == 0 && part.words != 0) {
        all.first_byte = offset_bytes + part.first_byte;
    }
    all.words += part.words;
}

Expected<Mismatch> look_through(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, const Look& look)
{
    Mismatch all;
    if (end.host() != nullptr) {
        return look({end.host(), end.bytes()}, 0);
    }
    const auto stream = device::open_stream(runtime, device);
    if (!stream) {
        return base::fail(stream.error());
    }
    std::vector<std::byte> scratch(std::min(part_bytes, end.bytes()));
    for (std::uint64_t at = 0; at < end.bytes(); at += scratch.size()) {
        const std::span part{scratch.data(), std::min<std::uint64_t>(scratch.size(), end.bytes() - at)};
        if (auto read = read_part(runtime, *stream, end, at, part); !read) {
            return base::fail(read.error());
        }
        add(all, look(part, at), at);
    }
    return all;
}

}  // namespace

Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::uint64_t seed)
{
    if (end.host() != nullptr) {
        device::write_pattern({end.host(), end.bytes()}, {.seed = seed});
        return {};
    }
    const auto stream = device::open_stream(runtime, device);
    if (!stream) {
        return base::fail(stream.error());
    }
    std::vector<std::byte> scratch(std::min(part_bytes, end.bytes()));
    for (std::uint64_t at = 0; at < end.bytes(); at += scratch.size()) {
        const std::span part{scratch.data(), std::min<std::uint64_t>(scratch.size(), end.bytes() - at)};
        device::write_pattern(part, {.seed = seed, .first_word = at / word_bytes});
        auto written = runtime.copy(stream->id(), end.at(at), device::at(scratch.data()), part.size()).and_then([&] {
            return runtime.wait(stream->id());
        });
        if (!written) {
            return written;
        }
    }
    return {};
}

Expected<Mismatch> check_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::uint64_t seed)
{
    return look_through(runtime, device, end, [seed](std::span<const std::byte> part, std::uint64_t offset_bytes) {
        return device::check_pattern(part, {.seed = seed, .first_word = offset_bytes / word_bytes});
    });
}

Expected<Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::byte value)
{
    return look_through(runtime, device, end, [value](std::span<const std::byte> part, std::uint64_t /*offset*/) {
        Mismatch found;
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] != value) {
                found.first_byte = found.words == 0 ? i : found.first_byte;
                found.words += found.words == 0 || i % word_bytes == 0 ? 1U : 0U;
            }
        }
        return found;
    });
}

}  // namespace memsweep::transfer
