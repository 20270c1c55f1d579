#include "core/memory/device_resource.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "core/memory/alignment.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t given_alignment = 16;  // that every runtime keeps to; for more, more is asked for

AllocStatus status_of(const base::Error& error)
{
    return error.code == base::ErrorCode::budget ? AllocStatus::out_of_memory : AllocStatus::no_device_memory;
}

}  // namespace

DeviceResource::DeviceResource(device::Runtime& runtime, std::uint32_t device, device::MemoryKind kind)
    : runtime_{runtime}, device_{device}, kind_{kind}
{
}

DeviceResource::~DeviceResource()
{
    for (auto& [address, held] : held_) {
        give_up(held);
    }
}

void DeviceResource::give_up(Held& held) noexcept
{
    if (held.is_reserved) {
        ::munmap(held.begin, held.bytes);
    }
}

Allocation DeviceResource::hold(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept
try {
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::lock_guard lock{mutex_};
    const bool needs_stream = zeroed || kind_ == device::MemoryKind::stream_ordered;
    if (needs_stream && !stream_.valid()) {
        auto opened = device::open_stream(runtime_, device_);
        if (!opened) {
            return refused(opened.error());
        }
        stream_ = *std::move(opened);
    }
    Held held;
    held.bytes = std::max<std::uint64_t>(bytes, 1) + (alignment > given_alignment ? alignment : 0);
    auto memory =
        device::allocate(runtime_, {.device = device_, .kind = kind_, .bytes = held.bytes, .stream = stream_.id()});
    if (!memory) {
        return refused(memory.error());
    }
    if (zeroed) {
        if (const auto cleared = clear(*memory); !cleared) {
            return refused(cleared.error());
        }
    }
    held.begin = memory->host();
    if (held.begin == nullptr) {  // where one space has the addresses of all, the device's own serves
        held.begin = static_cast<std::byte*>(runtime_.native_address(memory->id()));
    }
    if (held.begin == nullptr) {
        void* const reserved =
            ::mmap(nullptr, held.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) {
            return {nullptr, AllocStatus::out_of_memory};
        }
        held.begin = static_cast<std::byte*>(reserved);
        held.is_reserved = true;
    }
    held.memory = *std::move(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(held.begin);
    std::byte* const given = held.begin + (round_up(begin, alignment) - begin);
    held_.emplace(given, std::move(held));
    return {given, AllocStatus::ok};
} catch (const std::exception&) {  // the book-keeping found no memory
    return {nullptr, AllocStatus::out_of_memory};
}

Allocation DeviceResource::refused(const base::Error& error)
{
    last_refusal_ = base::describe(error);
    return {nullptr, status_of(error)};
}

std::string DeviceResource::last_refusal() const
{
    const std::lock_guard lock{mutex_};
    return last_refusal_;
}

base::Expected<void> DeviceResource::clear(const device::Memory& memory)
{
    if (memory.host() != nullptr) {
        std::memset(memory.host(), 0, memory.bytes());
        return {};
    }
    MEMSWEEP_TRY(runtime_.fill(stream_.id(), memory.at(), std::byte{0}, memory.bytes()));
    return runtime_.wait(stream_.id());
}

void DeviceResource::deallocate(void* ptr, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept
{
    const std::lock_guard lock{mutex_};
    const auto found = held_.find(static_cast<const std::byte*>(ptr));
    if (found != held_.end()) {
        give_up(found->second);
        held_.erase(found);
    }
}

std::optional<device::Address> DeviceResource::where(const void* ptr) const
{
    const auto* const byte = static_cast<const std::byte*>(ptr);
    const std::lock_guard lock{mutex_};
    auto after = held_.upper_bound(byte);
    if (after == held_.begin()) {
        return std::nullopt;
    }
    const Held& held = std::prev(after)->second;
    const auto offset = static_cast<std::uint64_t>(byte - held.begin);
    return offset < held.bytes ? std::optional{held.memory.at(offset)} : std::nullopt;
}

}  // namespace memsweep::memory
