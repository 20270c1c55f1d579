// Estimates how much longer a probe will take, from the usual times of its parts and the real times of the parts that
// have ended.
//
// Units    seconds. The estimate is only shown to the user; no measurement depends on it.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "core/device/runtime.hpp"
#include "core/probe/probe.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::probe {

struct Part {
    std::string_view name;
    double usual_seconds{};
};

// The parts of a whole probe in their order: "topology", "latency", "bandwidth", "faults", "device", "transfers". Their
// usual times are the costs in probe.hpp, adapted to these settings.
[[nodiscard]] std::vector<Part> usual_parts(const ProbeContext& context, const device::Runtime& runtime);

class TimeLeft {
  public:
    TimeLeft(const sys::Clock& clock, std::vector<Part> parts);

    // Call this when `part` begins and all parts before it have ended. A name that is unknown, or that belongs to the
    // present or an earlier part, is ignored.
    void begin(std::string_view part);
    // Returns the estimated time left; never negative. 0 if there are no parts.
    [[nodiscard]] double seconds() const;

  private:
    [[nodiscard]] double elapsed() const;

    const sys::Clock& clock_;
    std::vector<Part> parts_;
    std::size_t now_{};
    std::chrono::nanoseconds began_;  // when the present part began
    double usual_before_{};           // usual time of the parts before the present one
    double took_before_{};            // real time of the parts before the present one
};

}  // namespace memsweep::probe
