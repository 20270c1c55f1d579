#include "tests/support/fake_runtime.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace memsweep::tests {
namespace {

using base::ErrorCode;
using device::MemoryKind;
using Lock = std::lock_guard<std::recursive_mutex>;

tl::unexpected<base::Error> unknown(std::string_view what)
{
    return base::fail(ErrorCode::invalid_input, fmt::format("there is no such {}", what));
}

constexpr const char* broken_context = "the context is broken";
constexpr std::uint64_t most_host_bytes = 1ULL << 36U;

bool host_reaches(MemoryKind kind)
{
    return kind != MemoryKind::device && kind != MemoryKind::stream_ordered && kind != MemoryKind::mapped;
}

bool on_device(MemoryKind kind)
{
    return kind == MemoryKind::device || kind == MemoryKind::stream_ordered;
}

}  // namespace

FakeRuntime::FakeRuntime(FakeMachine machine) : machine_{std::move(machine)}
{
    for (std::uint32_t number = 0; number < machine_.devices; ++number) {
        facts_.push_back(
            {.name = fmt::format("invented device {}", number),
             .driver = "fake",
             .bus_address = machine_.is_on_bus ? fmt::format("0000:{:02x}:00.0", number + 1) : std::string{},
             .memory_bytes = machine_.memory_bytes,
             .largest_block_bytes = machine_.memory_bytes,
             .compute_units = 1,
             .shares_host_memory = machine_.shares_host_memory,
             .numa_node = number == 0 ? machine_.numa_node : std::nullopt,
             .cache_bytes = machine_.cache_bytes == 0 ? std::nullopt : std::optional{machine_.cache_bytes}});
        caches_.emplace_back(machine_.cache_bytes);
    }
}

std::optional<std::string> FakeRuntime::lacks(std::uint32_t number, MemoryKind kind) const
{
    if (number >= facts_.size()) {
        return fmt::format("there is no device {}", number);
    }
    return machine_.lacking.contains(kind)
               ? std::optional{fmt::format("no {} memory was invented", device::name_of(kind))}
               : std::nullopt;
}

device::PeerLink FakeRuntime::peer(std::uint32_t from, std::uint32_t to) const
{
    const Lock lock{mutex_};
    device::PeerLink link{.copies = from < facts_.size() && to < facts_.size(),
                          .possible = machine_.peers || from == to,
                          .direct = from == to || direct_.contains({from, to})};
    if (!link.direct) {
        link.reason = machine_.peers ? "peer access is off" : "these devices have no peer access";
    }
    return link;
}

base::Expected<void> FakeRuntime::set_peer_access(std::uint32_t from, std::uint32_t to, bool on)
{
    const Lock lock{mutex_};
    if (from >= facts_.size() || to >= facts_.size()) {
        return unknown("device");
    }
    if (!machine_.peers) {
        return base::fail(ErrorCode::not_supported, "these devices have no peer access");
    }
    if (on) {
        direct_.insert({from, to});
    } else {
        direct_.erase({from, to});
    }
    return {};
}

std::optional<device::HostLink> FakeRuntime::host_link(std::uint32_t) const
{
    const Lock lock{mutex_};
    const bool busy = std::ranges::any_of(streams_, [](const auto& one) { return !one.second.queue.empty(); });
    return machine_.link ? std::optional{device::HostLink{
                               .generation = busy ? 5U : 1U, .lanes = 16, .max_generation = 5, .max_lanes = 16}}
                         : std::nullopt;
}

device::Holdings FakeRuntime::holdings() const
{
    const Lock lock{mutex_};
    device::Holdings held{.blocks = blocks_.size(),
                          .streams = streams_.size(),
                          .events = events_.size(),
                          .latches = latches_.size() + gave_up_.size()};
    for (const auto& [id, block] : blocks_) {
        held.bytes += block.bytes;
    }
    return held;
}

std::optional<device::Clocks> FakeRuntime::clocks(std::uint32_t number) const
{
    const auto link = host_link(number);
    constexpr std::uint64_t mega = 1'000'000;
    const bool is_hot = link && link->generation != 1 && looks_ < machine_.hot_looks;
    looks_ += link && link->generation != 1 ? 1U : 0U;
    return link ? std::optional{device::Clocks{.processors_hz = (link->generation == 1 ? 345 : 1755) * mega,
                                               .memory_hz = 2619 * mega,
                                               .max_processors_hz = 1980 * mega,
                                               .max_memory_hz = 2619 * mega,
                                               .held_back_by = is_hot                  ? "hot_hardware"
                                                               : link->generation == 1 ? "idle"
                                                                                       : "power_cap",
                                               .is_throttled = is_hot}}
                : std::nullopt;
}

base::Expected<void> FakeRuntime::share_device(device::StreamId stream, std::uint32_t streams)
{
    const Lock lock{mutex_};
    return find(stream).map([&](Stream*) { most_shared_ = std::max(most_shared_, streams); });
}

std::optional<std::string> FakeRuntime::lost() const
{
    const Lock lock{mutex_};
    return is_lost_ ? std::optional<std::string>{broken_context} : std::nullopt;
}

base::Expected<device::RawBlock> FakeRuntime::allocate(const device::BlockRequest& request)
{
    const Lock lock{mutex_};
    if (is_lost_) {
        return base::fail(ErrorCode::device, broken_context);
    }
    if (const auto why = lacks(request.device, request.kind)) {
        return base::fail(ErrorCode::not_supported, *why);
    }
    if (request.kind == MemoryKind::registered || request.bytes == 0) {
        return base::fail(ErrorCode::invalid_input, "registered memory is adopted, and no block is empty");
    }
    std::uint64_t used = 0;
    for (const auto& [id, block] : blocks_) {
        used += on_device(block.kind) && block.device == request.device ? block.bytes : 0;
    }
    const bool fits =
        on_device(request.kind) ? request.bytes <= machine_.memory_bytes - used : request.bytes <= most_host_bytes;
    if (refusing_.has(++blocks_asked_) || !fits) {
        return base::fail(ErrorCode::budget,
                          fmt::format("allocate: device {} has no {} bytes left", request.device, request.bytes));
    }
    const device::MemoryId id{++last_id_};
    Block& block = blocks_[id];
    block = {.kind = request.kind, .device = request.device, .bytes = request.bytes};
    block.own.resize(request.bytes);
    block.data = block.own.data();
    return device::RawBlock{.id = id, .host = host_reaches(block.kind) ? block.data : nullptr};
}

base::Expected<device::RawBlock> FakeRuntime::adopt(std::uint32_t number, void* ordinary, std::uint64_t bytes)
{
    const Lock lock{mutex_};
    if (const auto why = lacks(number, MemoryKind::registered)) {
        return base::fail(ErrorCode::not_supported, *why);
    }
    if (ordinary == nullptr || bytes == 0) {
        return base::fail(ErrorCode::invalid_input, "adopt: there is no memory at this address");
    }
    const device::MemoryId id{++last_id_};
    Block& block = blocks_[id];
    block = {.kind = MemoryKind::registered, .device = number, .bytes = bytes};
    block.data = static_cast<std::byte*>(ordinary);
    return device::RawBlock{.id = id, .host = block.data};
}

base::Expected<void> FakeRuntime::close(device::MemoryId memory)
{
    const Lock lock{mutex_};
    return blocks_.erase(memory) == 1 ? base::Expected<void>{} : unknown("block");
}

base::Expected<std::byte*> FakeRuntime::map(device::MemoryId memory, device::Access)
{
    const Lock lock{mutex_};
    const auto block = find(memory);
    if (!block) {
        return base::fail(block.error());
    }
    if ((*block)->kind != MemoryKind::mapped || (*block)->is_mapped) {
        return base::fail(ErrorCode::invalid_input, "map: the block is not of the kind mapped, or is mapped already");
    }
    (*block)->is_mapped = true;
    return (*block)->data;
}

base::Expected<void> FakeRuntime::unmap(device::MemoryId memory)
{
    const Lock lock{mutex_};
    const auto block = find(memory);
    if (!block) {
        return base::fail(block.error());
    }
    return std::exchange((*block)->is_mapped, false)
               ? base::Expected<void>{}
               : base::fail(ErrorCode::invalid_input, "unmap: the block is not mapped");
}

base::Expected<FakeRuntime::Stream*> FakeRuntime::find(device::StreamId stream)
{
    const auto found = streams_.find(stream);
    if (is_lost_) {
        return base::fail(ErrorCode::device, broken_context);
    }
    return found == streams_.end() ? base::Expected<Stream*>{unknown("stream")} : &found->second;
}

base::Expected<FakeRuntime::Event*> FakeRuntime::find(device::EventId event)
{
    const auto found = events_.find(event);
    return found == events_.end() ? base::Expected<Event*>{unknown("event")} : &found->second;
}

base::Expected<FakeRuntime::Block*> FakeRuntime::find(device::MemoryId memory)
{
    const auto found = blocks_.find(memory);
    return found == blocks_.end() ? base::Expected<Block*>{unknown("block")} : &found->second;
}

base::Expected<FakeRuntime::Span> FakeRuntime::span(device::Address address, std::uint64_t bytes)
{
    if (address.memory == device::MemoryId::none) {
        return address.ordinary == nullptr ? base::Expected<Span>{unknown("address")}
                                           : Span{.data = static_cast<std::byte*>(address.ordinary)};
    }
    return find(address.memory).and_then([&](Block* block) -> base::Expected<Span> {
        if (address.offset_bytes > block->bytes || bytes > block->bytes - address.offset_bytes) {
            return base::fail(ErrorCode::invalid_input, fmt::format("{} bytes at {} reach beyond a block of {}", bytes,
                                                                    address.offset_bytes, block->bytes));
        }
        if (block->is_mapped) {
            return base::fail(ErrorCode::invalid_input, "the block is mapped: it is the processor's until unmap");
        }
        return Span{.data = block->data + address.offset_bytes, .kind = block->kind, .device = block->device};
    });
}

}  // namespace memsweep::tests
