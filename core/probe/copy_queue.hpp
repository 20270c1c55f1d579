// A queue of copies to, from or between devices on one stream. It includes the memory of both ends and a data pattern
// that proves that the copies arrived.
//
// For every sample the destination is overwritten, and the copies are queued behind a latch, which holds the stream
// back until all are queued. Events of the device time the copies. Then the data at the destination are compared with
// the pattern. A driver's queue is bounded, and a latch has a timeout. So at most 256 copies are queued behind a latch,
// and a larger sample is the sum of several such batches. The first four copies of a batch are a warm-up and not timed.
// Copies of pageable memory are timed by the processor instead, without a latch. The call that starts a pageable copy
// may return only when the copy is done, so behind a latch it would block for ever.
//
// Owners   Memory of a device is written and checked by that device, even if another device moves the data. If the
//          moving device wrote to a wrong address and also did the check, it would find its own pattern at that address
//          and notice nothing.
//
// Units    bytes, seconds.
//
// Errors   those of device::Runtime.
//
// Threads  a queue belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::probe {

using Meanwhile = std::function<void()>;
using Enqueue = std::function<base::Expected<void>()>;

// Returns the time in seconds, by the device's clock, of the work that `enqueue` puts on a stream. The work is queued
// behind a latch and between two events, so that the time of queueing is not included. `before` puts work on the stream
// that runs first and is not timed. `meanwhile` is called while the work runs. Returns only after all queued work has
// ended, even after an error.
[[nodiscard]] base::Expected<double> seconds_behind_latch(device::Runtime& runtime, const device::Stream& stream,
                                                          const Enqueue& enqueue, const Meanwhile& meanwhile = {},
                                                          const Enqueue& before = {});

struct CopyEnd {
    std::uint32_t device{};
    device::MemoryKind kind{};
};

struct CopySpec {
    CopyEnd from, to;
    std::uint32_t stream_device{};     // the device whose copy engine or kernel moves the bytes
    bool by_kernel{};                  // a kernel moves them, not a copy engine
    std::uint32_t streams_at_once{1};  // number of streams on which that device copies by kernels at the same time
    std::uint64_t bytes{};
    std::uint64_t seed{1};  // of the data pattern
    bool renewed{};  // the host rewrites the source before each sample, so that managed memory starts on the host
};

class CopyQueue {
  public:
    [[nodiscard]] static base::Expected<CopyQueue> open(device::Runtime& runtime, const CopySpec& spec);

    [[nodiscard]] const CopySpec& spec() const noexcept { return spec_; }
    [[nodiscard]] const device::Stream& stream() const noexcept { return stream_; }
    [[nodiscard]] bool is_timed_by_events() const noexcept;
    [[nodiscard]] std::uint64_t warm_up_copies() const noexcept;  // untimed copies at the start of each batch
    // Returns the memory of the end that the processor can read, or nullptr if it can read neither end.
    [[nodiscard]] const std::byte* host_memory() const noexcept;

    [[nodiscard]] base::Expected<void> prepare();  // returns when it has overwritten the destination
    [[nodiscard]] base::Expected<void> enqueue(std::uint64_t copies);
    [[nodiscard]] base::Expected<device::Mismatch> verify();          // checks the data where they are
    [[nodiscard]] base::Expected<device::Mismatch> verify_by_host();  // copies the data to the host to check them
    [[nodiscard]] bool is_between_devices() const noexcept;

    // Returns the time in seconds of `copies` copies, one after another. If events time them, `meanwhile` is called
    // while they are in progress.
    [[nodiscard]] base::Expected<double> run(std::uint64_t copies, const sys::Clock& clock,
                                             const Meanwhile& meanwhile = {});

  private:
    CopyQueue(device::Runtime& runtime, const CopySpec& spec) : runtime_{&runtime}, spec_{spec} {}
    // The memory of one end. `owner`: a stream of its device, if the device does not move the bytes itself.
    struct End {
        device::Memory memory;
        device::Stream owner;
    };
    [[nodiscard]] base::Expected<End> make_end(const CopyEnd& spec) const;
    [[nodiscard]] const device::Stream& owner_of(const End& end) const noexcept;
    [[nodiscard]] base::Expected<void> write_source();
    [[nodiscard]] base::Expected<void> write_end(End& end, std::optional<std::byte> value);

    device::Runtime* runtime_;
    CopySpec spec_;
    device::Stream stream_;
    End from_, to_;
};

// The times of several queues that copied at the same time.
struct AtOnce {
    std::vector<double> seconds;  // for each queue, measured by events of its device
    bool stayed_busy{true};       // true only if all other queues still copied whenever a measured queue was done
    AtOnce& operator+=(const AtOnce& next);
};

// Times `copies` copies of each queue, while all queues copy. Each queue gets `times` times as many copies, so that it
// still copies while the first `measured` queues finish their timed copies. If a queue is more than `times` times as
// fast as the slowest queue, it runs out of copies, and stayed_busy is false. A single measured queue gets only its
// timed copies.
//
// Sources  nvbandwidth (NVIDIA), whose interfering queues get twice as many copies.
[[nodiscard]] base::Expected<AtOnce> run_at_once(device::Runtime& runtime, std::vector<CopyQueue>& queues,
                                                 std::size_t measured, std::uint64_t copies, std::uint64_t times,
                                                 const Meanwhile& meanwhile = {});

}  // namespace memsweep::probe
