// Limits the memory that a replay needs beyond the recording. Cuts the recorded order of events into steps: a replay's
// threads run freely within a step, and wait for each other between steps (replay_gate.hpp).
//
// Units    bytes; steps by their number from 0.
// Cost     a few instructions an event, while a trace is compiled.
// Memory   a word a step, and 32 bytes a thread.
// Threads  one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/checked.hpp"

namespace memsweep::trace {

using ThreadIndex = std::uint32_t;  // indexes a replay's threads

// In a replay, more memory may be live than in the recording, because threads run in any order within a step. The
// difference is at most the larger of two values: a 64th of the recorded peak, and least_step_bytes, which is little
// beside a process's own memory.
inline constexpr std::uint64_t least_step_bytes = 64U << 10U;
inline constexpr std::uint64_t steps_per_peak = 64;

// Cuts the recorded order into steps, and computes how many bytes can be live at a time if threads run freely within
// each step.
class ReplaySteps {
  public:
    explicit ReplaySteps(std::uint64_t peak_live_bytes)
        : most_bytes_{std::max(least_step_bytes, peak_live_bytes / steps_per_peak)}
    {
    }

    struct Entry {
        std::uint64_t step{};
        bool leaves{};  // the thread must leave an earlier step first
    };

    // Call before a thread's event that will allocate `bytes`; `live_bytes` are live at that time. Returns the step
    // that the thread must enter first. nullopt: the thread is in that step already, or the step is the first of all.
    std::optional<Entry> before(ThreadIndex thread, std::uint64_t bytes, std::uint64_t live_bytes)
    {
        if (thread >= parts_.size()) {
            parts_.resize(std::size_t{thread} + 1);
        }
        const bool has_others = members_.back() > 1 || (members_.back() == 1 && thread != newest_);
        if (has_others && (bytes > most_bytes_ || bytes_ > most_bytes_ - bytes)) {
            members_.push_back(0);
            bytes_ = 0;
        }
        bytes_ = base::saturating_add(bytes_, bytes);
        const std::uint64_t step = members_.size() - 1;
        Part& part = parts_[thread];
        if (part.step == step) {
            return std::nullopt;
        }
        if (members_.back() == 0) {
            bound_now_ = live_bytes;
            bound_ = std::max(bound_, bound_now_);
        }
        const bool leaves = part.step != no_step;
        part = {.step = step};
        ++members_.back();
        newest_ = thread;
        return step == 0 ? std::nullopt : std::optional{Entry{step, leaves}};
    }

    // Call after the thread's event, with the bytes that it allocated or freed.
    void made(ThreadIndex thread, std::uint64_t bytes)
    {
        Part& part = parts_[thread];
        part.made = base::saturating_add(part.made, bytes);
        const std::uint64_t known = base::saturating_add(part.freed, part.peak);
        if (part.made > known) {
            const std::uint64_t more = part.made - known;
            part.peak += more;
            bound_now_ = base::saturating_add(bound_now_, more);
            bound_ = std::max(bound_, bound_now_);
        }
    }
    void freed(ThreadIndex thread, std::uint64_t bytes)
    {
        parts_[thread].freed = base::saturating_add(parts_[thread].freed, bytes);
    }

    // Returns, for each step, how many threads have a part of it.
    [[nodiscard]] const std::vector<std::uint64_t>& members() const noexcept { return members_; }
    // Returns the most bytes that can be live, in whatever order threads run within each step.
    [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }

  private:
    static constexpr std::uint64_t no_step = ~std::uint64_t{0};
    struct Part {
        std::uint64_t step{no_step};
        std::uint64_t made{};   // bytes allocated in the step
        std::uint64_t freed{};  // bytes freed in the step
        std::uint64_t peak{};   // the largest value of made - freed
    };

    std::uint64_t most_bytes_;
    std::vector<std::uint64_t> members_{0};
    std::vector<Part> parts_;  // by thread
    ThreadIndex newest_{};     // the thread that entered last
    std::uint64_t bytes_{};    // allocated in the step
    std::uint64_t bound_now_{};
    std::uint64_t bound_{};
};

}  // namespace memsweep::trace
