// CUDA.jl's pressure on Julia's collector: before an allocation, collect when the live bytes pass a share of the
// device's memory, unless collections already take too much of the time; the share they may take doubles for each sign
// that a collection is worth it.
//
// Sources  CUDA.jl, lib/cudadrv memory management (maybe_collect): thresholds 0.75, 0.90 and 0.95; a share of 5 %; the
//          time of collections smoothed three to one.
// Units    bytes, nanoseconds.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

class CudaPressure final : public Trigger {
  public:
    explicit CudaPressure(const model::Pressure& spec) noexcept : spec_{spec} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void freed(std::uint64_t bytes) noexcept override;
    void collected(const Collection& collection) noexcept override;

  private:
    model::Pressure spec_;
    std::uint64_t live_{};
    std::int64_t last_end_ns_{-1};
    double gc_ns_{};       // smoothed
    double last_freed_{};  // share of what was live
};

}  // namespace memsweep::lifetime
