// Samples from outside the memory of all descendants of a process. Finds the peak of their memory, and records time
// series.
//
// Units    seconds since begin(); bytes; an entry in a series of page faults or stall time counts what came since the
//          entry before it.
// Cost     a sample: sys::sample_descendants and reading one small file. If processes share pages, a walk of the page
//          tables (sys::with_shared_once) is made when SharedPages asks for it; between two walks, the values of the
//          peak and of the series are lower bounds. Samples and walks together take at most a fiftieth of one processor
//          if samples are at least pause() apart.
// Threads  one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/command/shared_pages.hpp"
#include "core/model/report.hpp"
#include "core/sys/tree_sample.hpp"

namespace memsweep::engine {

class TreeSampler {
  public:
    // `keeps_series`: whether to record the series, too; if not, only the peaks are kept.
    explicit TreeSampler(bool keeps_series);

    void begin();
    void sample(pid_t of);

    // The largest sampled working set. If there are several processes, mapped files are not included.
    [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }
    // The highest number of processes in a sample.
    [[nodiscard]] std::uint64_t most_processes() const { return most_processes_; }
    // The shortest wait before the next sample.
    [[nodiscard]] std::chrono::nanoseconds pause() const;
    // The seconds since begin() in which some task of this machine was stalled for memory (/proc/pressure/memory).
    // nullopt: the kernel does not measure this.
    [[nodiscard]] std::optional<double> stall_seconds() const;

    // Moves the series out: working_set, processes, minor_faults, major_faults and, if the kernel measures it,
    // memory_stall. All have the same length.
    [[nodiscard]] std::vector<model::Series> take_series() { return std::move(series_); }

  private:
    // The working set with each page counted once, or a lower bound if it is not known how many pages are shared.
    // nullopt: neither is known.
    [[nodiscard]] std::optional<std::uint64_t> working_set(const sys::TreeSample& now,
                                                           std::chrono::steady_clock::time_point at);
    void keep(const sys::TreeSample& now, std::uint64_t bytes, std::chrono::steady_clock::time_point at);

    bool keeps_series_;
    std::vector<model::Series> series_;
    std::chrono::steady_clock::time_point begun_;
    std::chrono::nanoseconds cost_{};
    SharedPages shared_;
    sys::TreeSample kept_;  // the last sample that is in the series
    std::optional<std::uint64_t> first_stall_us_;
    std::optional<std::uint64_t> last_stall_us_;
    std::uint64_t peak_bytes_{};
    std::uint64_t most_processes_{};
};

}  // namespace memsweep::engine
