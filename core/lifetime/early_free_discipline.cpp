// Freed by the program itself, at the call: explicit free, must_free!, unsafe_free!, finalize(x), a Dispose. What the
// program does not free (an exception came, a name was rebound, the free was declined) goes to the fallback, or is
// lost.
//
// A second free is harmless after unsafe_free, and an error that is counted after an explicit free. While other handles
// exist, unsafe_free leaves the memory to them, must_free refuses, and an explicit free frees it all the same.
//
// Sources  the semantics of GPUArrays' unsafe_free!, the must_free! proposal, NumSharp's Dispose over a finalizer.
// Cost     a free: the once-flag and the resource's deallocate; finalize_now adds release_cost of busy time.
// Ownership  owns the fallback. What is lost has a leak for its fallback: it stays with the resource.
#include "core/lifetime/disciplines.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;

class EarlyFreeDiscipline final : public Discipline {
  public:
    EarlyFreeDiscipline(const model::ReleaseSpec& spec, std::unique_ptr<Discipline> fallback, Reclaimer& reclaimer)
        : Discipline{reclaimer}, spec_{spec}, fallback_{std::move(fallback)}
    {
    }

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override
    {
        return fallback_->before_allocate(bytes);
    }

    void allocation_failed(std::uint64_t bytes) noexcept override { fallback_->allocation_failed(bytes); }

    void unreachable(Block& block) noexcept override
    {
        if (block.freed.load(std::memory_order_acquire)) {
            reclaimer().recycle(block);
        } else {
            fallback_->unreachable(block);
        }
    }

    [[nodiscard]] ManualFree free(Block& block) noexcept override
    {
        if (spec_.safety.ignore_manual_free) {
            return ManualFree::disregarded;
        }
        if (const ManualFree refused = refusal(block); refused != ManualFree::done) {
            return refused;
        }
        if (spec_.mode == ReleaseMode::finalize_now) {
            spin_for(spec_.release_cost_ns * spec_.finalizer_objects);
        }
        if (!reclaimer().free_data(block)) {
            return once_more();
        }
        freed_.fetch_add(1, relaxed);
        fallback_->freed_early(block.bytes);
        return ManualFree::done;
    }

    void collect() noexcept override { fallback_->collect(); }
    void drain() noexcept override { fallback_->drain(); }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats = fallback_->stats();
        stats.freed_early = freed_.load(relaxed);
        return stats;
    }

    void reset_counts() noexcept override
    {
        fallback_->reset_counts();
        freed_.store(0, relaxed);
    }

  private:
    [[nodiscard]] bool shares_ownership() const noexcept
    {
        return spec_.mode == ReleaseMode::unsafe_free || spec_.mode == ReleaseMode::refcount;
    }

    [[nodiscard]] ManualFree once_more() const noexcept
    {
        return shares_ownership() ? ManualFree::disregarded : ManualFree::twice;
    }

    // Why this free is not carried out; `done` when it is.
    [[nodiscard]] ManualFree refusal(const Block& block) noexcept
    {
        if (block.freed.load(std::memory_order_acquire)) {
            return once_more();
        }
        const bool shared = block.handles() > 1;
        if (shared && spec_.mode == ReleaseMode::must_free) {
            return ManualFree::aliased;
        }
        if (shared && shares_ownership()) {
            return ManualFree::kept;
        }
        const bool wanted = spec_.free_fraction >= 1 || chosen(asked_.fetch_add(1, relaxed), spec_.free_fraction);
        return wanted ? ManualFree::done : ManualFree::kept;
    }

    const model::ReleaseSpec spec_;
    std::unique_ptr<Discipline> fallback_;
    std::atomic<std::uint64_t> asked_{0};
    std::atomic<std::uint64_t> freed_{0};
};

}  // namespace

std::unique_ptr<Discipline> make_early_free(const model::ReleaseSpec& spec, std::unique_ptr<Discipline> fallback,
                                            Reclaimer& reclaimer)
{
    return std::make_unique<EarlyFreeDiscipline>(spec, std::move(fallback), reclaimer);
}

}  // namespace memsweep::lifetime
