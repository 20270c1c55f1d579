#include "core/transfer/buffer_state.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

namespace memsweep::model {

using transfer::BufferRequest;
using transfer::BufferState;

template <>
std::span<const Named<BufferState>> names<BufferState>()
{
    static constexpr std::array<Named<BufferState>, 7> table{{
        {BufferState::uninitialized, "uninitialized", "no memory yet, on neither side"},
        {BufferState::host_only, "host_only", "on the host, which alone has memory or current contents"},
        {BufferState::device_only, "device_only", "on the device, which alone has memory or current contents"},
        {BufferState::synchronized, "synchronized", "the same on both sides"},
        {BufferState::host_dirty, "host_dirty", "the host has written since both were the same"},
        {BufferState::device_dirty, "device_dirty", "the device has written since both were the same"},
        {BufferState::released, "released", "given back: nothing may be asked of it"},
    }};
    return table;
}

template <>
std::span<const Named<BufferRequest>> names<BufferRequest>()
{
    static constexpr std::array<Named<BufferRequest>, 8> table{{
        {BufferRequest::ensure_host, "ensure_host", "the host is to read what is current"},
        {BufferRequest::ensure_device, "ensure_device", "the device is to read what is current"},
        {BufferRequest::synchronize, "synchronize", "both sides are to be the same"},
        {BufferRequest::write_host, "write_host", "the host is about to write over what is current"},
        {BufferRequest::write_device, "write_device", "the device is about to write over what is current"},
        {BufferRequest::mark_host_dirty, "mark_host_dirty", "the host has written"},
        {BufferRequest::mark_device_dirty, "mark_device_dirty", "the device has written"},
        {BufferRequest::release, "release", "give the memory back"},
    }};
    return table;
}

}  // namespace memsweep::model

namespace memsweep::transfer {
namespace {

using State = BufferState;
using Copy = BufferCopy;

struct Cell {
    State next{};
    Copy copy{Copy::none};
    const char* wrong{};  // instead of a move: what to ask for
};

constexpr const char* is_released = "a released buffer takes no more requests";
constexpr const char* no_host = "the host has no memory yet: ask for ensure_host or write_host first";
constexpr const char* no_device = "the device has no memory yet: ask for ensure_device or write_device first";
constexpr const char* host_loses = "what the host has written would be lost: ask for synchronize first";
constexpr const char* device_loses = "what the device has written would be lost: ask for synchronize first";

// A row per state, a column per request, in the order of the enumerations.
constexpr std::array<std::array<Cell, 8>, 7> cells{{
    {{{State::host_only},
      {State::device_only},
      {State::synchronized, Copy::host_to_device},
      {State::host_only},
      {State::device_only},
      {{}, {}, no_host},
      {{}, {}, no_device},
      {State::released}}},
    {{{State::host_only},
      {State::synchronized, Copy::host_to_device},
      {State::synchronized, Copy::host_to_device},
      {State::host_only},
      {State::device_dirty, Copy::host_to_device},
      {State::host_only},
      {{}, {}, no_device},
      {State::released}}},
    {{{State::synchronized, Copy::device_to_host},
      {State::device_only},
      {State::synchronized, Copy::device_to_host},
      {State::host_dirty, Copy::device_to_host},
      {State::device_only},
      {{}, {}, no_host},
      {State::device_only},
      {State::released}}},
    {{{State::synchronized},
      {State::synchronized},
      {State::synchronized},
      {State::host_dirty},
      {State::device_dirty},
      {State::host_dirty},
      {State::device_dirty},
      {State::released}}},
    {{{State::host_dirty},
      {State::synchronized, Copy::host_to_device},
      {State::synchronized, Copy::host_to_device},
      {State::host_dirty},
      {{}, {}, host_loses},
      {State::host_dirty},
      {{}, {}, host_loses},
      {State::released}}},
    {{{State::synchronized, Copy::device_to_host},
      {State::device_dirty},
      {State::synchronized, Copy::device_to_host},
      {State::host_dirty, Copy::device_to_host},
      {State::device_dirty},
      {{}, {}, device_loses},
      {State::device_dirty},
      {State::released}}},
    {{{{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released}}},
}};

}  // namespace

base::Expected<BufferMove> next_move(BufferState state, BufferRequest request)
{
    const Cell& cell = cells.at(static_cast<std::size_t>(state)).at(static_cast<std::size_t>(request));
    if (cell.wrong != nullptr) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("{} of a buffer that is {}: {}", model::name_of(request), model::name_of(state), cell.wrong));
    }
    return BufferMove{cell.next, cell.copy};
}

}  // namespace memsweep::transfer
