// One way that bytes go, to, from or between devices: its memory, its stream, the data that proves it.
//
// Every sample: the destination is poisoned, the copies are queued behind a latch, events time them, and what arrived
// is compared with the pattern where it lies. Pageable memory is timed by the processor instead: copies of it may not
// return until they are done, which they never are behind a latch. Units    bytes, seconds. Errors   those of
// device::Runtime. Threads  a lane belongs to one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/handles.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::transfer {

using Meanwhile = std::function<void()>;

struct LaneEnd {
    std::uint32_t device{};
    device::MemoryKind kind{};
};

struct LaneSpec {
    LaneEnd from, to;
    std::uint32_t stream_device{};  // whose engine, or whose kernel, moves
    bool by_kernel{};
    std::uint64_t bytes{};
    std::uint64_t seed{1};
    bool renewed{};  // the host writes the source anew before each sample, so that it begins on the host
};

class Lane {
  public:
    [[nodiscard]] static base::Expected<Lane> open(device::Runtime& runtime, const LaneSpec& spec);

    [[nodiscard]] const LaneSpec& spec() const noexcept { return spec_; }
    [[nodiscard]] const device::Stream& stream() const noexcept { return stream_; }
    [[nodiscard]] bool is_timed_by_events() const noexcept;
    [[nodiscard]] const std::byte* host_memory() const noexcept;  // of whichever end the processor sees; or nullptr

    [[nodiscard]] base::Expected<void> prepare();  // poisons the destination; waits
    [[nodiscard]] base::Expected<void> queue(std::uint64_t copies);
    [[nodiscard]] base::Expected<device::Mismatch> verify();

    // Seconds of so many copies, one after another. `meanwhile` is called while they are under way, where they are
    // timed by events.
    [[nodiscard]] base::Expected<double> run(std::uint64_t copies, const sys::Clock& clock,
                                             const Meanwhile& meanwhile = {});

  private:
    Lane(device::Runtime& runtime, const LaneSpec& spec) : runtime_{&runtime}, spec_{spec} {}
    [[nodiscard]] base::Expected<void> write_source();
    [[nodiscard]] base::Expected<void> write_end(device::Memory& memory, std::optional<std::byte> value);
    [[nodiscard]] base::Expected<double> run_by_events(std::uint64_t copies, const Meanwhile& meanwhile);

    device::Runtime* runtime_;
    LaneSpec spec_;
    device::Stream stream_;
    device::Memory from_, to_;
};

// Every lane's copies at once, released together: seconds until the last is done, by the processor's clock.
[[nodiscard]] base::Expected<double> run_together(device::Runtime& runtime, std::vector<Lane>& lanes,
                                                  std::uint64_t copies, const sys::Clock& clock);

// The first lane's copies while the second's go on until the first are done.
struct Contended {
    double seconds{};             // of the first lane's copies
    std::uint64_t other_bytes{};  // that the second moved until then
};
[[nodiscard]] base::Expected<Contended> run_contended(device::Runtime& runtime, Lane& measured, Lane& other,
                                                      std::uint64_t copies, const sys::Clock& clock,
                                                      const Meanwhile& meanwhile = {});

}  // namespace memsweep::transfer
