// Live bytes over a trace, of each process and of all: the most in each stretch of equally many events.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1; ticks of the trace's clock.
// Cost     5 ns an event; folded to half as many steps whenever there are too many.
// Memory   24 bytes a step in which a process changed what it holds, at most `max_steps` a process.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace memsweep::trace {

class LiveHistory {
  public:
    static constexpr std::size_t max_steps = 512;

    // The bytes that a process holds after the next event.
    struct Held {
        std::uint32_t process{};
        std::uint64_t bytes{};
    };
    // `total` is what all hold.
    void add(std::uint64_t ticks, const Held& held, std::uint64_t total);

    struct Step {
        std::uint64_t first_event{};
        std::uint64_t ticks{};  // when that event was
    };
    [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
    // The most held in each of the steps.
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
