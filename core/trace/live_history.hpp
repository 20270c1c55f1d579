// Keeps how many bytes were live over the course of a trace, for each process and for all processes together. The trace
// is divided into steps of equally many events. For each step, the history has the largest number of bytes that were
// live during the step.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1; ticks of the trace's clock.
// Cost     5 ns per event. When more than max_steps steps would be needed, every two neighbouring steps are merged.
// Memory   for each process, 24 bytes for each step in which its live bytes changed, for at most `max_steps` steps.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace memsweep::trace {

class LiveHistory {
  public:
    static constexpr std::size_t max_steps = 512;

    // The live bytes of a process after an event.
    struct Held {
        std::uint32_t process{};
        std::uint64_t bytes{};
    };
    // Adds the next event. `held`: its process, and the live bytes of this process after the event. `total`: the live
    // bytes of all processes after the event.
    void add(std::uint64_t ticks, const Held& held, std::uint64_t total);

    struct Step {
        std::uint64_t first_event{};
        std::uint64_t ticks{};  // the time of the first event
    };
    [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
    // Return the most live bytes in each step, of all processes or of one. A process without events has 0 in each step.
    [[nodiscard]] std::vector<std::uint64_t> total() const { return most_in_steps(total_); }
    [[nodiscard]] std::vector<std::uint64_t> of_process(std::uint32_t process) const;

  private:
    struct Change {
        std::uint64_t step{};
        std::uint64_t most{};
        std::uint64_t last{};
    };
    using Curve = std::vector<Change>;

    static void note(Curve& curve, std::uint64_t step, std::uint64_t bytes);
    static void fold(Curve& curve);
    [[nodiscard]] std::vector<std::uint64_t> most_in_steps(const Curve& curve) const;

    std::vector<Step> steps_;
    std::uint64_t events_per_step_{1};
    std::uint64_t events_{};
    Curve total_;
    std::map<std::uint32_t, Curve> processes_;
};

}  // namespace memsweep::trace
