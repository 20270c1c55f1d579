// Collects working set and live bytes over time, from outside the worker.
#pragma once

#include <optional>

#include "core/engine/run_region.hpp"
#include "core/model/report.hpp"
#include "core/sys/process_watch.hpp"

namespace memsweep::engine {

class SeriesSampler {
  public:
    // Cost     one pread of /proc/PID/status (about 4 us) and two atomic loads per sample.
    // A worker that cannot be watched yields no working-set series.
    SeriesSampler(const model::SeriesSpec& spec, int pid);

    // Takes a sample when the repetition is under way; times count from its first step.
    void sample(const RunRegion& region, const Gauges& gauges, std::chrono::nanoseconds now);

    [[nodiscard]] std::vector<model::Series> take();

  private:
    std::optional<sys::ProcessWatch> watch_;
    model::Series working_set_;
    model::Series live_bytes_;
    bool wants_live_bytes_;
};

}  // namespace memsweep::engine
