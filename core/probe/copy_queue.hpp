// Copies to, from or between devices that are queued on one stream, with the memory of both ends and the data that
// proves what arrived.
//
// In every sample the destination is poisoned, the copies are queued behind a latch, events time them, and the data
// that arrived are compared with the pattern where they lie. A driver's queue is bounded and a latch does not hold for
// ever. So no more than 256 copies are queued behind one, and a larger sample adds up several such batches. The first
// four copies of a batch warm up. Copies of pageable memory are timed by the processor instead: they may not return
// until they are done, which never happens behind a latch.
//
// Owners   Memory of a device is written, poisoned and checked by that device, whoever moves the data: a mover that
//          reaches a wrong place would find its own pattern there again.
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

// Seconds of the work that `enqueue` puts on a stream, by the device's clock. The work is queued behind a latch between
// two events, so that the cost of queueing is not timed. Work that `before` puts on the stream is done first, and not
// timed. `meanwhile` is called while the work is done. Returns when all of it is done, whatever has failed.
[[nodiscard]] base::Expected<double> seconds_behind_latch(device::Runtime& runtime, const device::Stream& stream,
                                                          const Enqueue& enqueue, const Meanwhile& meanwhile = {},
                                                          const Enqueue& before = {});

struct CopyEnd {
    std::uint32_t device{};
    device::MemoryKind kind{};
};

struct CopySpec {
    CopyEnd from, to;
    std::uint32_t stream_device{};  // the device whose engine or kernel moves the bytes
    bool by_kernel{};
    std::uint32_t streams_at_once{1};  // streams of that device that copy by kernels
    std::uint64_t bytes{};
    std::uint64_t seed{1};
    bool renewed{};  // the host writes the source anew before each sample, so that it begins on the host
};

class CopyQueue {
  public:
    [[nodiscard]] static base::Expected<CopyQueue> open(device::Runtime& runtime, const CopySpec& spec);

    [[nodiscard]] const CopySpec& spec() const noexcept { return spec_; }
    [[nodiscard]] const device::Stream& stream() const noexcept { return stream_; }
    [[nodiscard]] bool is_timed_by_events() const noexcept;
    [[nodiscard]] std::uint64_t warm_up_copies() const noexcept;  // of each batch, behind its latch and not timed
    [[nodiscard]] const std::byte* host_memory() const noexcept;  // of whichever end the processor sees; or nullptr

    [[nodiscard]] base::Expected<void> prepare();  // poisons the destination; waits
    [[nodiscard]] base::Expected<void> enqueue(std::uint64_t copies);
    [[nodiscard]] base::Expected<device::Mismatch> verify();          // by the destination's device
    [[nodiscard]] base::Expected<device::Mismatch> verify_by_host();  // copied to the processor part by part
    [[nodiscard]] bool is_between_devices() const noexcept;

    // Seconds of so many copies, one after another. If events time them, `meanwhile` is called while they are in
    // progress.
    [[nodiscard]] base::Expected<double> run(std::uint64_t copies, const sys::Clock& clock,
                                             const Meanwhile& meanwhile = {});

  private:
    CopyQueue(device::Runtime& runtime, const CopySpec& spec) : runtime_{&runtime}, spec_{spec} {}
    // One end of the copies, and the stream of its device if that is not the mover's.
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

// The time that each of several queues took for its copies while all the others were copying too.
struct AtOnce {
    std::vector<double> seconds;  // of each queue, by its own device's events
    bool stayed_busy{true};       // every queue had copies left when the last of the measured ones was done
    AtOnce& operator+=(const AtOnce& next);
};

// Times so many copies of each queue. Every queue is given `times` as many copies as are timed, so that it still copies
// while the first `measured` queues finish theirs. A queue that takes less than the `times`th part of the slowest one's
// time runs dry, and stayed_busy says so.
//
// Sources  nvbandwidth (NVIDIA): the copies that interfere are twice as many.
[[nodiscard]] base::Expected<AtOnce> run_at_once(device::Runtime& runtime, std::vector<CopyQueue>& queues,
                                                 std::size_t measured, std::uint64_t copies, std::uint64_t times,
                                                 const Meanwhile& meanwhile = {});

}  // namespace memsweep::probe
