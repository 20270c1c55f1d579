#include "core/transfer/end_memory.hpp"

#include <sys/mman.h>

#include <cerrno>

#include <fmt/format.h>

#include "core/sys/page_ops.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;
using model::HostKind;
using model::Place;

sys::PageSize pages_of(HostKind kind)
{
    switch (kind) {
    case HostKind::small:
        return sys::PageSize::small;
    case HostKind::hugetlb_2m:
        return sys::PageSize::hugetlb_2m;
    case HostKind::hugetlb_1g:
        return sys::PageSize::hugetlb_1g;
    case HostKind::ordinary:
    case HostKind::pinned:
    case HostKind::thp:
    case HostKind::registered:
    case HostKind::write_combined:
    case HostKind::mapped:
    case HostKind::managed:
        break;
    }
    return sys::PageSize::thp;
}

// What a driver allocates itself; nothing for memory that the kernel gives.
std::optional<device::MemoryKind> kind_of_driver(const Place& place)
{
    if (place.kind == Place::Kind::device) {
        return device::MemoryKind::device;
    }
    switch (place.host) {
    case HostKind::pinned:
        return device::MemoryKind::pinned;
    case HostKind::write_combined:
        return device::MemoryKind::write_combined;
    case HostKind::mapped:
        return device::MemoryKind::mapped;
    case HostKind::managed:
        return device::MemoryKind::managed;
    case HostKind::ordinary:
    case HostKind::small:
    case HostKind::thp:
    case HostKind::hugetlb_2m:
    case HostKind::hugetlb_1g:
    case HostKind::registered:
        break;
    }
    return std::nullopt;
}

bool any_pages_do(HostKind kind)
{
    return kind == HostKind::ordinary || kind == HostKind::pinned || kind == HostKind::registered;
}

}  // namespace

Expected<EndMemory> EndMemory::make(device::Runtime& runtime, const EndRequest& request)
{
    EndMemory end;
    end.bytes_ = request.bytes;
    end.skew_bytes_ = request.skew_bytes;
    if (request.place.kind == Place::Kind::null) {
        return end;
    }
    const bool by_driver = request.place.kind == Place::Kind::device || request.driver.has_value();
    const bool needs_driver = request.place.host == HostKind::registered || request.place.host == HostKind::mapped ||
                              request.place.host == HostKind::write_combined || request.place.host == HostKind::managed;
    if (needs_driver && !by_driver) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("{}: a driver gives such memory, and no device is at the other end",
                                      model::to_text(request.place)));
    }
    auto made = by_driver && kind_of_driver(request.place) ? end.take_block(runtime, request) : end.map_host(request);
    if (made && request.place.host == HostKind::registered) {
        auto adopted = device::adopt(runtime, *request.driver, end.mapped_->data(), end.mapped_->size());
        if (!adopted) {
            return base::fail(adopted.error());
        }
        end.block_ = *std::move(adopted);
        end.pinned_bytes_ = end.mapped_->size();
    }
    if (!made) {
        return base::fail(made.error());
    }
    return end;
}

Expected<void> EndMemory::map_host(const EndRequest& request)
{
    const HostKind kind = request.place.host;
    const std::uint64_t all_bytes = request.bytes + request.skew_bytes;
    auto memory = sys::PagedMemory::map(all_bytes, pages_of(kind));
    if (!memory && any_pages_do(kind) && memory.error().code == base::ErrorCode::not_supported) {
        memory = sys::PagedMemory::map(all_bytes, sys::PageSize::small);
    }
    if (!memory) {
        return base::fail(memory.error());
    }
    const auto asked = request.binds ? request.place.number : std::nullopt;
    if (asked) {
        if (auto bound = sys::bind_to_node(memory->data(), memory->size(), *asked); !bound) {
            return base::fail(base::ErrorCode::not_supported,
                              fmt::format("no memory on node {}: {}", *asked, base::describe(bound.error())));
        }
    }
    sys::touch_pages(memory->data(), memory->size());
    if (kind == HostKind::pinned) {
        if (::mlock(memory->data(), memory->size()) != 0) {
            return base::fail(base::ErrorCode::not_supported,
                              fmt::format("{} (ulimit -l raises the limit)", base::os_error("mlock", errno).message));
        }
        pinned_bytes_ = memory->size();
    }
    data_ = memory->data() + request.skew_bytes;
    mapped_ = *std::move(memory);
    prove(mapped_->data(), mapped_->size(), asked);
    return {};
}

Expected<void> EndMemory::take_block(device::Runtime& runtime, const EndRequest& request)
{
    const bool is_device = request.place.kind == Place::Kind::device;
    const std::uint32_t number = is_device ? request.place.number.value_or(0) : *request.driver;
    const device::MemoryKind kind = *kind_of_driver(request.place);
    if (const auto why = runtime.lacks(number, kind)) {
        return base::fail(base::ErrorCode::not_supported, fmt::format("{}: {}", model::to_text(request.place), *why));
    }
    auto block =
        device::allocate(runtime, {.device = number, .kind = kind, .bytes = request.bytes + request.skew_bytes});
    if (!block) {
        return base::fail(block.error());
    }
    block_ = *std::move(block);
    pages_ = std::string{device::name_of(kind)};
    if (is_device || block_.host() == nullptr) {
        return {};
    }
    data_ = block_.host() + request.skew_bytes;
    if (kind != device::MemoryKind::managed) {
        pinned_bytes_ = block_.bytes();
        sys::touch_pages(block_.host(), block_.bytes());
        prove(block_.host(), block_.bytes(), request.binds ? request.place.number : std::nullopt);
    }
    return {};
}

void EndMemory::prove(const std::byte* from, std::uint64_t bytes, std::optional<std::uint32_t> asked)
{
    const std::uint64_t page = sys::page_size();
    const auto into_page = reinterpret_cast<std::uintptr_t>(from) % page;
    const std::byte* const first = from - into_page;
    const std::uint64_t all = into_page + bytes;
    proof_ = placement_proof(sys::pages_by_node(first, all), asked);
    const auto got = sys::pages_got(first, all);
    pages_ = got ? sys::describe(*got) : "not proven: " + base::describe(got.error());
}

device::Address EndMemory::at(std::uint64_t offset_bytes) const noexcept
{
    return block_.valid() ? block_.at(skew_bytes_ + offset_bytes) : device::at(data_ + offset_bytes);
}

}  // namespace memsweep::transfer
