#include "core/transfer/end_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;
using model::HostKind;
using model::TransferEnd;

using device::Mismatch;

constexpr std::uint64_t part_bytes = 4U << 20U;  // whole words
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// Calls work(stream, part, offset) for one part after the other of memory that a processor does not reach; `part` is
// scratch memory of as many bytes.
template <typename Work>
Expected<void> each_part(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, const Work& work)
{
    const auto stream = MEMSWEEP_TRY(device::open_stream(runtime, device));
    std::vector<std::byte> scratch(std::min(part_bytes, end.bytes()));
    for (std::uint64_t at = 0; at < end.bytes(); at += scratch.size()) {
        const std::span part{scratch.data(), std::min<std::uint64_t>(scratch.size(), end.bytes() - at)};
        MEMSWEEP_TRY(work(stream.id(), part, at));
    }
    return {};
}

// What a driver allocates itself; nothing for memory that the kernel gives.
std::optional<device::MemoryKind> kind_of_driver(const TransferEnd& end)
{
    return end.kind == TransferEnd::Kind::device ? device::MemoryKind::device : traits_of(end.host).from_driver;
}

// Whether the kernel gives the memory and the driver is told of it afterwards.
bool is_registered(const device::Runtime& runtime, const EndRequest& request)
{
    const bool on_a_node = request.binds && request.end.number.has_value();
    return request.end.kind == TransferEnd::Kind::host &&
           (request.end.host == HostKind::registered ||
            (request.end.host == HostKind::pinned && on_a_node && request.driver &&
             !runtime.lacks(*request.driver, device::MemoryKind::registered)));
}

}  // namespace

HostTraits traits_of(HostKind kind) noexcept
{
    using device::MemoryKind;
    using model::PageKind;
    switch (kind) {
    case HostKind::ordinary:
        return {.or_small = true};
    case HostKind::thp:
        return {};
    case HostKind::small:
        return {.pages = PageKind::small};
    case HostKind::hugetlb_2m:
        return {.pages = PageKind::huge_2m};
    case HostKind::hugetlb_1g:
        return {.pages = PageKind::huge_1g};
    case HostKind::pinned:
        return {.or_small = true, .from_driver = MemoryKind::pinned, .is_locked = true};
    case HostKind::registered:
        return {.or_small = true, .needs_driver = true, .is_locked = true};
    case HostKind::write_combined:
        return {.from_driver = MemoryKind::write_combined, .needs_driver = true, .is_locked = true};
    case HostKind::mapped:
        return {.from_driver = MemoryKind::mapped, .needs_driver = true, .is_locked = true};
    case HostKind::managed:
        return {.from_driver = MemoryKind::managed, .needs_driver = true};
    }
    return {};
}

Expected<EndMemory> EndMemory::make(device::Runtime& runtime, const EndRequest& request)
{
    EndMemory end;
    end.bytes_ = request.bytes;
    end.skew_bytes_ = request.skew_bytes;
    if (request.end.kind == TransferEnd::Kind::null) {
        return end;
    }
    const bool by_driver = request.end.kind == TransferEnd::Kind::device || request.driver.has_value();
    if (traits_of(request.end.host).needs_driver && !by_driver) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("{}: a driver gives such memory, and no device is at the other end",
                                      model::to_text(request.end)));
    }
    const bool registers = is_registered(runtime, request);
    MEMSWEEP_TRY(by_driver && kind_of_driver(request.end) && !registers ? end.take_block(runtime, request)
                                                                        : end.map_host(request, registers));
    if (registers) {
        end.block_ = MEMSWEEP_TRY(device::adopt(runtime, *request.driver, end.mapped_->data(), end.mapped_->size()));
        end.pinned_bytes_ = end.mapped_->size();
    }
    return end;
}

Expected<void> EndMemory::map_host(const EndRequest& request, bool registers)
{
    const HostKind kind = request.end.host;
    const auto asked = request.binds ? request.end.number : std::nullopt;
    auto memory = MEMSWEEP_TRY(sys::PlacedMemory::touched({.bytes = request.bytes + request.skew_bytes,
                                                           .pages = traits_of(kind).pages,
                                                           .or_small = traits_of(kind).or_small,
                                                           .node = asked}));
    if (kind == HostKind::pinned && !registers) {
        if (::mlock(memory.data(), memory.size()) != 0) {
            return base::fail(base::ErrorCode::not_supported,
                              fmt::format("{} (ulimit -l raises the limit)", base::os_error("mlock", errno).message));
        }
        pinned_bytes_ = memory.size();
    }
    data_ = memory.data() + request.skew_bytes;
    mapped_ = std::move(memory);
    proof_ = mapped_->prove();
    return {};
}

Expected<void> EndMemory::take_block(device::Runtime& runtime, const EndRequest& request)
{
    const bool is_device = request.end.kind == TransferEnd::Kind::device;
    const std::uint32_t number = is_device ? request.end.number.value_or(0) : *request.driver;
    const device::MemoryKind kind = *kind_of_driver(request.end);
    if (const auto why = runtime.lacks(number, kind)) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("{}: {}", model::to_text(request.end), *why));
    }
    sys::ThreadPages pages;
    if (!is_device && request.binds && request.end.number) {
        if (const auto bound = pages.bind_to(*request.end.number); !bound) {
            return base::fail(
                base::ErrorCode::not_supported,
                fmt::format("no memory on node {}: {}", *request.end.number, base::describe(bound.error())));
        }
    }
    block_ = MEMSWEEP_TRY(
        device::allocate(runtime, {.device = number, .kind = kind, .bytes = request.bytes + request.skew_bytes}));
    proof_.pages = std::string{device::name_of(kind)};
    if (is_device || block_.host() == nullptr) {
        return {};
    }
    data_ = block_.host() + request.skew_bytes;
    if (kind != device::MemoryKind::managed) {
        pinned_bytes_ = block_.bytes();
        sys::touch_pages(block_.host(), block_.bytes());
        proof_ = sys::prove_placement(block_.host(), block_.bytes(), request.binds ? request.end.number : std::nullopt);
    }
    return {};
}

device::Address EndMemory::at(std::uint64_t offset_bytes) const noexcept
{
    return block_.valid() ? block_.at(skew_bytes_ + offset_bytes) : device::at(data_ + offset_bytes);
}

Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::uint64_t seed)
{
    if (end.host() != nullptr) {
        device::write_pattern({end.host(), end.bytes()}, {.seed = seed});
        return {};
    }
    return each_part(runtime, device, end, [&](device::StreamId stream, std::span<std::byte> part, std::uint64_t at) {
        device::write_pattern(part, {.seed = seed, .first_word = at / word_bytes});
        return runtime.copy(stream, end.at(at), device::at(part.data()), part.size()).and_then([&] {
            return runtime.wait(stream);
        });
    });
}

Expected<Mismatch> check_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::uint64_t seed)
{
    if (end.host() != nullptr) {
        return device::check_pattern({end.host(), end.bytes()}, {.seed = seed});
    }
    const auto stream = MEMSWEEP_TRY(device::open_stream(runtime, device));
    return device::check_by_host(runtime, stream.id(), end.at(), end.bytes(), {.seed = seed});
}

Expected<Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device, const EndMemory& end, std::byte value)
{
    Mismatch found;
    const auto look = [&](std::span<const std::byte> part, std::uint64_t offset_bytes) {
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] != value) {
                found.first_byte = found.words == 0 ? offset_bytes + i : found.first_byte;
                found.words += found.words == 0 || i % word_bytes == 0 ? 1U : 0U;
            }
        }
    };
    if (end.host() != nullptr) {
        look({end.host(), end.bytes()}, 0);
        return found;
    }
    const auto look_at = [&](device::StreamId stream, std::span<std::byte> part, std::uint64_t at) -> Expected<void> {
        MEMSWEEP_TRY(runtime.copy(stream, device::at(part.data()), end.at(at), part.size()));
        MEMSWEEP_TRY(runtime.wait(stream));
        look(part, at);
        return {};
    };
    MEMSWEEP_TRY(each_part(runtime, device, end, look_at));
    return found;
}

}  // namespace memsweep::transfer
