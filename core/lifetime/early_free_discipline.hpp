// Freed by the program itself, at the call: explicit free, must_free!, unsafe_free!, finalize(x), a Dispose. What the
// program does not free (an exception came, a name was rebound, the free was declined) goes to the fallback, or is
// lost.
//
// A second free is harmless after unsafe_free, and an error that is counted after an explicit free. While other handles
// exist, unsafe_free leaves the memory to them, must_free refuses, and an explicit free frees it all the same.
//
// Sources  the semantics of GPUArrays' unsafe_free!, the must_free! proposal, NumSharp's Dispose over a finalizer.
// Cost     a free: the once-flag and the resource's deallocate; finalize_now adds release_cost of busy time.
// Ownership  owns the fallback. Lost memory stays with the resource.
#pragma once

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating.hpp"

namespace memsweep::lifetime {

class EarlyFreeDiscipline final : public Discipline {
  public:
    // `fallback` may be null.
    EarlyFreeDiscipline(const model::ReleaseSpec& spec, std::unique_ptr<Discipline> fallback, Reclaimer& reclaimer);

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override;
    void allocation_failed(std::uint64_t bytes) noexcept override;
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] ManualFree free(Block& block) noexcept override;
    void collect() noexcept override;
    void drain() noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    [[nodiscard]] bool shares_ownership() const noexcept;
    [[nodiscard]] ManualFree refusal(const Block& block) noexcept;

    const model::ReleaseSpec spec_;
    std::unique_ptr<Discipline> fallback_;
    FloatingGauge lost_;
    std::atomic<std::uint64_t> asked_{0};
    std::atomic<std::uint64_t> freed_{0};
    std::atomic<std::uint64_t> double_frees_{0};
    std::atomic<std::uint64_t> aliased_{0};
};

}  // namespace memsweep::lifetime
