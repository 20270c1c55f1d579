#include "app/mpi/flow_buffer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/device/open.hpp"
#include "core/device/runtime.hpp"
#include "core/sys/numa.hpp"

namespace memsweep::mpi {
namespace {

bool has_memory(std::uint32_t number)
{
    const std::vector<std::uint32_t> nodes = sys::nodes_with_memory();
    return std::ranges::find(nodes, number) != nodes.end();
}

}  // namespace

base::Expected<std::unique_ptr<FlowBuffer>> FlowBuffer::make(const model::TransferEnd& end, std::uint64_t bytes,
                                                             const std::string& no_devices)
{
    using Kind = model::TransferEnd::Kind;
    auto buffer = std::make_unique<FlowBuffer>();
    const std::uint64_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    if (end.kind == Kind::null) {
        buffer->own_.resize(words);
        buffer->words_ = buffer->own_;
        buffer->wire_ = buffer->own_.data();
        return buffer;
    }
    const bool is_device = end.kind == Kind::device;
    if (is_device && !no_devices.empty()) {
        return base::fail(base::ErrorCode::not_supported, no_devices);
    }
    if (!is_device && end.number && !has_memory(*end.number)) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("this machine has no memory on node {}", *end.number));
    }
    buffer->runtime_ = is_device ? device::open_runtime() : device::no_runtime("no device is at an end");
    buffer->device_ = end.number.value_or(0);
    if (is_device && buffer->device_ >= buffer->runtime_->devices().size()) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("there is no gpu{}. {}", buffer->device_, buffer->runtime_->absence()));
    }
    buffer->end_ = MEMSWEEP_TRY(transfer::EndMemory::make(
        *buffer->runtime_, {.end = end, .bytes = words * sizeof(std::uint64_t), .skew_bytes = 0, .driver = {}}));
    if (buffer->end_.host() != nullptr) {
        buffer->words_ = {reinterpret_cast<std::uint64_t*>(buffer->end_.host()), words};
        buffer->wire_ = buffer->end_.host();
        return buffer;
    }
    buffer->own_.resize(words);
    buffer->words_ = buffer->own_;
    buffer->wire_ = buffer->runtime_->native_address(buffer->end_.at().memory);
    if (buffer->wire_ == nullptr) {
        return base::fail(
            base::ErrorCode::not_supported,
            fmt::format("memory of {} devices has no address that MPI takes", buffer->runtime_->backend()));
    }
    return buffer;
}

base::Expected<void> FlowBuffer::copy(device::Address to, device::Address from) const
{
    if (own_.empty() || wire_ == own_.data()) {
        return {};
    }
    const auto stream = MEMSWEEP_TRY(device::open_stream(*runtime_, device_));
    MEMSWEEP_TRY(runtime_->copy(stream.id(), to, from, bytes()));
    return runtime_->wait(stream.id());
}

base::Expected<void> FlowBuffer::to_wire() const
{
    return copy(end_.at(), device::at(words_.data()));
}

base::Expected<void> FlowBuffer::from_wire() const
{
    return copy(device::at(words_.data()), end_.at());
}

}  // namespace memsweep::mpi
