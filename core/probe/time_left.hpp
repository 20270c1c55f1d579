// Estimates how long a probe still takes, from the usual times of its parts and the real times of those that have
// ended.
//
// Units    seconds. The estimate is for people who wait; no measurement rests on it.
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

// The parts of a whole probe in their order, with these settings and as the costs in probe.hpp say: "topology",
// "latency", "bandwidth", "faults", "device", "transfers".
[[nodiscard]] std::vector<Part> usual_parts(const ProbeContext& context, const device::Runtime& runtime);

class TimeLeft {
  public:
    TimeLeft(const sys::Clock& clock, std::vector<Part> parts);

    // Call when the parts before it have ended. A name that is not among the parts changes nothing.
    void begin(std::string_view part);
    // Never negative; 0 if the parts have taken longer than usual, or there are none.
    [[nodiscard]] double seconds() const;

  private:
    [[nodiscard]] double elapsed() const;

    const sys::Clock& clock_;
    std::vector<Part> parts_;
    std::size_t now_{};
    std::chrono::nanoseconds began_;  // the part now
    double usual_before_{};
    double took_before_{};
};

}  // namespace memsweep::probe
