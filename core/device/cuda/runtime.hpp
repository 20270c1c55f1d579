// The Runtime for CUDA: uses the CUDA runtime library, linked statically, and our own kernels. Also the Runtime for
// HIP, through the names in api.hpp.
//
// Latch    A kernel polls a word of pinned memory until it has the awaited value. The kernel gives up after ten
//          seconds; close() then returns an error. Do not allocate or free memory while a latch is held, because both
//          may wait for the device.
//
// Copies   By cudaMemcpyAsync; between devices by cudaMemcpyPeerAsync, which copies directly if peer access is on, and
//          otherwise through the host.
//
// Events   A closed event is kept and reused, because creating and destroying an event costs more than recording it.
//
// Pools    Stream-ordered memory comes from a pool of our own that keeps its memory until the pool is destroyed, as
//          RMM's does. The device's default pool returns unused memory at every synchronisation, and the time for
//          returning it would be measured, too.
//
// Sources  CUDA Runtime API 12 and 13.
//
// Ordinary memory  On some machines, kernels can access ordinary memory in place, by faults (heterogeneous memory
//          management) or through the processor's page tables. We use this access only if every device is capable of
//          it, because an address does not tell which device's kernels will use it.
//
// Threads  As Runtime. Every call sets the current device first, because CUDA keeps a current device for each thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/device/backend.hpp"
#include "core/device/cuda/devices.hpp"
#include "core/device/cuda/kernels.hpp"

namespace memsweep::device::MEMSWEEP_API {

struct Block {
    MemoryKind kind{};
    std::uint32_t device{};
    std::uint64_t bytes{};
    std::byte* data{};      // its address for the device; for a pageable block, its address for the host
    std::byte* host{};      // its address for the host; nullptr: the host cannot access it
    cudaStream_t stream{};  // stream_ordered: the stream on which it is allocated and freed
    bool is_mapped{};
};

// Page-locked memory: its address for the host and its address for the device. The two addresses may differ, as for
// write-combined memory.
struct HostMemory {
    std::byte* host{};
    std::byte* device{};
};
[[nodiscard]] base::Expected<HostMemory> allocate_on_host(std::uint64_t bytes, unsigned flags);

struct Stream {
    std::uint32_t device{};
    cudaStream_t stream{};
    unsigned long long* found{};  // results of checks; device memory
    Grids grids;
    HostMemory words;  // of latches: the first half has each latch's `word`, the second half its `gave_up`
    std::uint64_t holds{};
};

struct Event {
    std::uint32_t device{};
    cudaEvent_t event{};
};

struct Latch {
    StreamId stream{};
    volatile std::uint64_t* word{};  // word and gave_up: addresses for the host
    volatile std::uint64_t* gave_up{};
    std::uint64_t value{};
};

// The memory at one end of an operation, such as the source of a copy.
struct End {
    std::byte* data{};  // the address for the device; for ordinary memory, the address for the host
    std::byte* host{};
    bool on_host{};  // host or managed memory: a copy or a kernel needs no access to a peer device
    bool kernels_reach{};
    bool is_managed{};
    bool is_ordinary{};  // ordinary memory: the processor fills it, not the device
    bool is_pooled{};    // cudaDeviceEnablePeerAccess does not give other devices access to it
    std::uint32_t device{};
};

class CudaRuntime final : public Backend<CudaRuntime, Block, Stream, Event, Latch, End> {
  public:
    using Backend::close;
    using Backend::wait;

    CudaRuntime(std::vector<FoundDevice> found, std::unique_ptr<Nvml> nvml);
    CudaRuntime(const CudaRuntime&) = delete;
    CudaRuntime& operator=(const CudaRuntime&) = delete;
    ~CudaRuntime() override;

    [[nodiscard]] std::string_view backend() const noexcept override { return api_name; }
    [[nodiscard]] std::optional<std::string> lacks(std::uint32_t device, MemoryKind kind) const override;
    [[nodiscard]] PeerLink peer(std::uint32_t from, std::uint32_t to) const override;
    [[nodiscard]] base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) override;
    [[nodiscard]] std::optional<HostLink> host_link(std::uint32_t device) const override;

    [[nodiscard]] std::optional<Clocks> clocks(std::uint32_t device) const override;
    [[nodiscard]] base::Expected<std::uint64_t> free_bytes(std::uint32_t device) const override;
    [[nodiscard]] base::Expected<void> advise(std::uint32_t device, MemoryId managed, Advice advice) override;
    [[nodiscard]] bool has_priorities(std::uint32_t device) const override;
    [[nodiscard]] base::Expected<StreamId> open_urgent_stream(std::uint32_t device) override;
    [[nodiscard]] base::Expected<void> share_device(StreamId stream, std::uint32_t streams) override;
    [[nodiscard]] std::optional<std::string> lost() const override;

    [[nodiscard]] base::Expected<RawBlock> allocate(const BlockRequest& request) override;
    [[nodiscard]] base::Expected<RawBlock> adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes) override;
    base::Expected<void> close(MemoryId memory) override;
    [[nodiscard]] void* native_address(MemoryId memory) const override;
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

    [[nodiscard]] base::Expected<void> choose(std::uint32_t device) const;
    [[nodiscard]] base::Expected<void> obtain(Block& block);
    [[nodiscard]] base::Expected<cudaMemPool_t> pool_of(std::uint32_t device);
    [[nodiscard]] base::Expected<cudaEvent_t> take_event(std::uint32_t device);
    void put_back(const Event& event);
    // Fails if `end` is memory of another device to which kernels have no access: peer access is off, or the memory is
    // of a pool.
    [[nodiscard]] base::Expected<void> check_direct(const Stream& on, const End& end) const;

    static constexpr const char* out_of_reach = "kernels do not reach ordinary memory: register it";
    static bool is_mapped(const Block& block) noexcept { return block.is_mapped; }
    [[nodiscard]] End end_at(std::byte* host) const noexcept;
    static std::uintptr_t place_of(const End& end) noexcept { return reinterpret_cast<std::uintptr_t>(end.data); }
    [[nodiscard]] End end_in(const Block& block, std::uint64_t offset_bytes) const noexcept;
    static std::byte* host_to_fill(const End& end) noexcept { return end.is_ordinary ? end.data : nullptr; }

    base::Expected<Stream> prepare(std::uint32_t device, bool is_urgent = false);
    base::Expected<void> finish(const Stream& stream);
    void dismantle(const Stream& stream) const;
    base::Expected<void> queue_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes);
    base::Expected<void> queue_fill(const Stream& on, const End& to, std::byte value, std::uint64_t bytes);
    base::Expected<void> queue_kernel_copy(const Stream& on, const End& to, const End& from, std::uint64_t bytes);
    base::Expected<void> queue_pattern(const Stream& on, const End& to, std::uint64_t bytes, Pattern pattern);
    base::Expected<Mismatch> found_mismatch(StreamId stream, const Stream& on, const End& from, std::uint64_t bytes,
                                            Pattern pattern);
    base::Expected<void> queue_follow(const Stream& on, const End& chain, std::uint64_t loads, const End& place);
    base::Expected<void> queue_prefetch(const Stream& on, const End& managed, std::uint64_t bytes, Side to);
    base::Expected<void> queue_wait(const Stream& on, const Event& event);
    static base::Expected<double> seconds_of(const Event& first, const Event& second);

    std::vector<FoundDevice> found_;
    std::unique_ptr<Nvml> nvml_;
    std::map<std::uint32_t, std::vector<cudaEvent_t>> idle_events_;  // by device: closed events, to be reused
    std::map<std::uint32_t, cudaMemPool_t> pools_;        // by device, made at its first stream-ordered allocation
    mutable std::vector<std::atomic<bool>> has_context_;  // by device: whether choose() has made a context
    std::set<std::pair<std::uint32_t, std::uint32_t>> direct_;
    bool reaches_ordinary_{};  // every device's kernels can access ordinary memory
};

// Opens the runtime. Errors: as open_cuda() in open.hpp.
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open();

}  // namespace memsweep::device::MEMSWEEP_API
