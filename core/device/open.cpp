#include "core/device/open.hpp"

#include <utility>

#include <fmt/format.h>

namespace memsweep::device {
namespace {

class NoRuntime final : public Runtime {
  public:
    explicit NoRuntime(std::string reason) : reason_{std::move(reason)} {}

    [[nodiscard]] std::string_view backend() const noexcept override { return "none"; }
    [[nodiscard]] const std::vector<DeviceFacts>& devices() const noexcept override { return none_; }
    [[nodiscard]] std::string absence() const override { return reason_; }
    [[nodiscard]] std::optional<std::string> lacks(std::uint32_t, MemoryKind) const override { return reason_; }
    [[nodiscard]] PeerLink peer(std::uint32_t, std::uint32_t) const override { return {.reason = reason_}; }
    [[nodiscard]] base::Expected<void> set_peer_access(std::uint32_t, std::uint32_t, bool) override
    {
        return refusal();
    }
    [[nodiscard]] std::optional<HostLink> host_link(std::uint32_t) const override { return std::nullopt; }
    [[nodiscard]] Holdings holdings() const override { return {}; }
    [[nodiscard]] base::Expected<RawBlock> allocate(const BlockRequest&) override { return refusal(); }
    [[nodiscard]] base::Expected<RawBlock> adopt(std::uint32_t, void*, std::uint64_t) override { return refusal(); }
    base::Expected<void> close(MemoryId) override { return refusal(); }
    [[nodiscard]] base::Expected<std::byte*> map(MemoryId, Access) override { return refusal(); }
    [[nodiscard]] base::Expected<void> unmap(MemoryId) override { return refusal(); }
    [[nodiscard]] base::Expected<StreamId> open_stream(std::uint32_t) override { return refusal(); }
    base::Expected<void> close(StreamId) override { return refusal(); }
    [[nodiscard]] base::Expected<void> wait(StreamId) override { return refusal(); }
    [[nodiscard]] base::Expected<void> copy(StreamId, Address, Address, std::uint64_t) override { return refusal(); }
    [[nodiscard]] base::Expected<void> fill(StreamId, Address, std::byte, std::uint64_t) override { return refusal(); }
    [[nodiscard]] base::Expected<void> copy_by_kernel(StreamId, Address, Address, std::uint64_t) override
    {
        return refusal();
    }
    [[nodiscard]] base::Expected<void> write_pattern(StreamId, Address, std::uint64_t, Pattern) override
    {
        return refusal();
    }
    [[nodiscard]] base::Expected<Mismatch> check_pattern(StreamId, Address, std::uint64_t, Pattern) override
    {
        return refusal();
    }
    [[nodiscard]] base::Expected<void> follow(StreamId, Address, std::uint64_t, std::uint64_t, Address) override
    {
        return refusal();
    }
    [[nodiscard]] base::Expected<void> prefetch(StreamId, Address, std::uint64_t, Side) override { return refusal(); }
    [[nodiscard]] base::Expected<EventId> record(StreamId) override { return refusal(); }
    base::Expected<void> close(EventId) override { return refusal(); }
    [[nodiscard]] base::Expected<void> wait(EventId) override { return refusal(); }
    [[nodiscard]] base::Expected<bool> happened(EventId) override { return refusal(); }
    [[nodiscard]] base::Expected<void> after(StreamId, EventId) override { return refusal(); }
    [[nodiscard]] base::Expected<double> seconds_between(EventId, EventId) override { return refusal(); }
    [[nodiscard]] base::Expected<LatchId> hold(StreamId) override { return refusal(); }
    base::Expected<void> close(LatchId) override { return refusal(); }

  private:
    [[nodiscard]] tl::unexpected<base::Error> refusal() const
    {
        return base::fail(base::ErrorCode::not_supported, reason_);
    }

    std::string reason_;
    std::vector<DeviceFacts> none_;
};

}  // namespace

#ifndef MEMSWEEP_WITH_CUDA
base::Expected<std::unique_ptr<Runtime>> open_cuda()
{
    return base::fail(base::ErrorCode::not_supported, "this memsweep was built without it");
}
#endif

#ifndef MEMSWEEP_WITH_HIP
base::Expected<std::unique_ptr<Runtime>> open_hip()
{
    return base::fail(base::ErrorCode::not_supported, "this memsweep was built without it");
}
#endif

#ifndef MEMSWEEP_WITH_OPENCL
base::Expected<std::unique_ptr<Runtime>> open_opencl()
{
    return base::fail(base::ErrorCode::not_supported, "this memsweep was built without it");
}
#endif

std::unique_ptr<Runtime> open_runtime()
{
    auto cuda = open_cuda();
    if (cuda) {
        return *std::move(cuda);
    }
#ifdef MEMSWEEP_WITH_HIP  // seldom: whoever has not built it is not told of it
    if (auto hip = open_hip()) {
        return *std::move(hip);
    }
#endif
    auto opencl = open_opencl();
    if (opencl) {
        return *std::move(opencl);
    }
    return no_runtime(fmt::format("CUDA: {}; OpenCL: {}", cuda.error().message, opencl.error().message));
}

std::unique_ptr<Runtime> no_runtime(std::string reason)
{
    return std::make_unique<NoRuntime>(std::move(reason));
}

}  // namespace memsweep::device
