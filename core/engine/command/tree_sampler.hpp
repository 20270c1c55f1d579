// Samples the memory of all descendants of a process from outside: its course over time, and its peak.
//
// Units    seconds since begin(); bytes; page faults and waiting time per interval.
// Cost     a sample costs as sys::sample_descendants says, and one small file. If processes share pages, a walk
//          (sys::with_shared_once) is made now and then, as SharedPages says; in between, the peak and the series have
//          lower bounds. Both take at most a fiftieth of one processor, if samples are as far apart as pause() says.
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
    // Without a series it keeps the peaks alone.
    explicit TreeSampler(bool keeps_series);

    void begin();
    void sample(pid_t of);

    // The largest working set sampled. If there are several processes, it does not include the files that they map.
    [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }
    // The most processes that a sample has seen at once.
    [[nodiscard]] std::uint64_t most_processes() const { return most_processes_; }
    // The shortest wait before the next sample.
    [[nodiscard]] std::chrono::nanoseconds pause() const;
    // The seconds in which some task of this machine waited for memory, since begin(). Empty: the kernel keeps no such
    // figures.
    [[nodiscard]] std::optional<double> stall_seconds() const;

    // working_set, processes, minor_faults, major_faults and, if the kernel tells it, memory_stall; all of one length.
    [[nodiscard]] std::vector<model::Series> take_series() { return std::move(series_); }

  private:
    // Counts each page once; of shared pages only as many as are certain. Empty: not known now.
    [[nodiscard]] std::optional<std::uint64_t> working_set(const sys::TreeSample& now,
                                                           std::chrono::steady_clock::time_point at);
    void keep(const sys::TreeSample& now, std::uint64_t bytes, std::chrono::steady_clock::time_point at);

    bool keeps_series_;
    std::vector<model::Series> series_;
    std::chrono::steady_clock::time_point begun_;
    std::chrono::nanoseconds cost_{};
    SharedPages shared_;
    sys::TreeSample kept_;  // the last that is in the series
    std::optional<std::uint64_t> first_stall_us_;
    std::optional<std::uint64_t> last_stall_us_;
    std::uint64_t peak_bytes_{};
    std::uint64_t most_processes_{};
};

}  // namespace memsweep::engine
