// The Runtime for OpenCL. Each platform has one context; each stream is an in-order queue with profiling.
//
// Memory   pinned: a buffer with CL_MEM_ALLOC_HOST_PTR that stays mapped.
//          registered: a buffer with CL_MEM_USE_HOST_PTR over the caller's memory. The buffer stays mapped.
//          mapped: a buffer with CL_MEM_ALLOC_HOST_PTR. The device owns it except while it is mapped.
//          device: an ordinary buffer.
//          managed: fine-grained shared virtual memory.
//          OpenCL has no write-combined or stream-ordered memory, and does not tell whether two devices can access
//          each other's memory.
//
// Latch    a user event of OpenCL; a barrier in the queue waits for this event.
//
// Sources  OpenCL 3.0 specification.
//
// Threads  as Runtime. A mutex guards the maps of handles; OpenCL's functions are thread-safe.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/device/backend.hpp"
#include "core/device/opencl/library.hpp"

namespace memsweep::device::opencl {

struct Platform {
    cl_context context{};
    std::vector<cl_device_id> devices;
    cl_program program{};  // our kernels; built when the first of them is needed
};

struct Block {
    MemoryKind kind{};
    std::uint32_t device{};
    std::uint64_t bytes{};
    cl_mem buffer{};
    std::byte* host{};
};

struct Queued {  // a queued command; the next wait checks its status, because clFinish does not report it
    const char* call{};
    cl_event event{};
};

struct Queue {
    std::uint32_t device{};
    cl_command_queue queue{};
    std::vector<Queued> queued;
};

using Stream = std::shared_ptr<Queue>;

struct Event {
    std::uint32_t device{};
    cl_event event{};
};

struct Latch {
    StreamId stream{};
    cl_event event{};
};

struct End {  // memory at one end of an operation
    cl_mem buffer{};
    std::byte* host{};
    std::uint64_t offset{};
    std::uint32_t device{};
    bool kernels_reach{};
    bool is_managed{};  // shared virtual memory, which kernels access by its address
};

class OpenClRuntime final : public Backend<OpenClRuntime, Block, Stream, Event, Latch, End> {
  public:
    using Backend::close;
    using Backend::wait;

    OpenClRuntime(const Library& api, std::vector<FoundDevice> found);
    OpenClRuntime(const OpenClRuntime&) = delete;
    OpenClRuntime& operator=(const OpenClRuntime&) = delete;
    ~OpenClRuntime() override;

    [[nodiscard]] std::string_view backend() const noexcept override { return "opencl"; }
    [[nodiscard]] std::optional<std::string> lacks(std::uint32_t device, MemoryKind kind) const override;
    [[nodiscard]] PeerLink peer(std::uint32_t from, std::uint32_t to) const override;
    [[nodiscard]] base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) override;
    [[nodiscard]] std::optional<HostLink> host_link(std::uint32_t device) const override;

    [[nodiscard]] base::Expected<RawBlock> allocate(const BlockRequest& request) override;
    [[nodiscard]] base::Expected<RawBlock> adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes) override;
    base::Expected<void> close(MemoryId memory) override;
    [[nodiscard]] base::Expected<std::byte*> map(MemoryId memory, Access access) override;
    [[nodiscard]] base::Expected<void> unmap(MemoryId memory) override;

    [[nodiscard]] base::Expected<EventId> record(StreamId stream) override;
    base::Expected<void> close(EventId event) override;
    [[nodiscard]] base::Expected<void> wait(EventId event) override;
    [[nodiscard]] base::Expected<bool> happened(EventId event) override;
    [[nodiscard]] base::Expected<LatchId> hold(StreamId stream) override;
    base::Expected<void> close(LatchId latch) override;

  private:
    friend Backend;

    [[nodiscard]] base::Expected<cl_context> context_of(std::uint32_t device);
    [[nodiscard]] base::Expected<cl_command_queue> new_queue(std::uint32_t device);
    [[nodiscard]] base::Expected<cl_command_queue> service_queue(std::uint32_t device);  // for mapping and unmapping
    [[nodiscard]] base::Expected<cl_program> program_of(std::uint32_t device);
    [[nodiscard]] base::Expected<void> obtain(Block& block, cl_mem_flags flags, void* ordinary);
    void dispose(Block& block);

    static constexpr const char* out_of_reach = "kernels of OpenCL do not reach this host memory: take mapped";
    static bool is_mapped(const Block& block) noexcept
    {
        return block.kind == MemoryKind::mapped && block.host != nullptr;
    }
    static std::byte* host_to_fill(const End& end) noexcept { return end.host; }
    static End end_at(std::byte* host) noexcept { return {.host = host}; }
    // For a buffer, returns the offset from the buffer's start. The offset is enough to check the alignment, because
    // the driver aligns the start.
    static std::uintptr_t place_of(const End& end) noexcept
    {
        return end.buffer != nullptr ? end.offset : reinterpret_cast<std::uintptr_t>(end.host);
    }
    static End end_in(const Block& block, std::uint64_t offset_bytes) noexcept;

    base::Expected<Stream> prepare(std::uint32_t device);
    base::Expected<void> finish(const Stream& stream);
    void dismantle(const Stream& stream) const { api_.release_queue(stream->queue); }
    base::Expected<void> queue_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes);
    base::Expected<void> queue_fill(const Stream& on, const End& to, std::byte value, std::uint64_t bytes);
    base::Expected<void> queue_kernel_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes);
    base::Expected<void> queue_pattern(const Stream& on, const End& to, std::uint64_t bytes, Pattern pattern);
    base::Expected<Mismatch> found_mismatch(StreamId stream, const Stream& on, const End& from, std::uint64_t bytes,
                                            Pattern pattern);
    base::Expected<void> queue_follow(const Stream& on, const End& chain, std::uint64_t loads, const End& place);
    base::Expected<void> queue_prefetch(const Stream& on, const End& managed, std::uint64_t bytes, Side to);
    base::Expected<void> queue_wait(const Stream& on, const Event& event);
    base::Expected<double> seconds_of(const Event& first, const Event& second) const;
    // Stores the event of a queued command, to be checked at the next wait. `code`: the result of the call that queued
    // the command. Returns an error if `code` is one.
    base::Expected<void> queued(Queue& queue, const char* call, cl_int code, cl_event event);
    void forget_done(Queue& queue);

    class Kernel;
    [[nodiscard]] base::Expected<Kernel> kernel(Queue& stream, const char* name);

    Library api_;
    std::vector<FoundDevice> found_;
    std::map<cl_platform_id, Platform> platforms_;
    std::map<std::uint32_t, cl_command_queue> service_;
};

}  // namespace memsweep::device::opencl
