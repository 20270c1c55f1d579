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
    const auto past_alignment = [&](const Held& block) {
        return reinterpret_cast<std::uintptr_t>(block.begin) % std::max<std::size_t>(alignment, 1);
    };
    auto held = take(std::max<std::uint64_t>(bytes, 1));
    // Drivers give whole units of up to 2 MiB: a byte more than was wanted may cost another one. What lies well as it
    // comes is not asked for again.
    if (held && past_alignment(*held) != 0) {
        give_up(*held);
        static_cast<void>(held->memory.close());
        held = take(bytes + alignment);
    }
    if (!held) {
        return refused(held.error());
    }
    if (zeroed) {
        if (const auto cleared = clear(held->memory); !cleared) {
            give_up(*held);
            return refused(cleared.error());
        }
    }
    std::byte* const given = held->begin + (past_alignment(*held) == 0 ? 0 : alignment - past_alignment(*held));
    held_.emplace(given, *std::move(held));
    return {given, AllocStatus::ok};
} catch (const std::exception&) {  // the book-keeping found no memory
    return {nullptr, AllocStatus::out_of_memory};
}

base::Expected<DeviceResource::Held> DeviceResource::take(std::uint64_t bytes)
{
    Held held;
    held.bytes = bytes;
    held.memory = MEMSWEEP_TRY(
        device::allocate(runtime_, {.device = device_, .kind = kind_, .bytes = bytes, .stream = stream_.id()}));
    held.begin = held.memory.host();
    if (held.begin == nullptr) {  // where one space has the addresses of all, the device's own serves
        held.begin = static_cast<std::byte*>(runtime_.native_address(held.memory.id()));
    }
    if (held.begin == nullptr) {
        void* const reserved = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) {
            return base::fail(base::ErrorCode::budget, "mmap: no addresses are left");
        }
        held.begin = static_cast<std::byte*>(reserved);
        held.is_reserved = true;
    }
    return held;
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
