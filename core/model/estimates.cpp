// What a case will need, found by running its steps over byte counts instead of memory.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"
#include "core/model/plan.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::model {
namespace {

using base::saturating_add;
using base::saturating_mul;

bool throws(const std::vector<Step>& steps)
{
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        const Nested inner = nested(step.operation);
        return std::holds_alternative<ThrowStep>(step.operation) || (inner.steps != nullptr && throws(*inner.steps));
    });
}

class Ledger {
  public:
    explicit Ledger(const ReleaseSpec& release) : release_{&release} {}

    [[nodiscard]] std::uint64_t peak_of(const std::vector<Step>& steps, const PoolSpec& pool)
    {
        pool_ = pool;
        run(steps);
        return peak_;
    }

    // One repetition of a case, after others in the same worker: its peak. Names end with it.
    std::uint64_t run_case(const Case& one)
    {
        if (one.memory.resource == ResourceKind::null) {
            return 0;
        }
        throws_ = throws(one.steps());
        pool_ = one.memory.pool;
        in_file_ = one.memory.resource == ResourceKind::file;
        peak_ = 0;
        if (one.placement == Placement::drain) {
            apply(CollectStep{});
            apply(DrainStep{});
        }
        raise_peak();
        run(one.steps());
        for (auto& [name, bytes] : held_) {
            release(std::exchange(bytes, 0));
        }
        if (keeps()) {
            idle_ = std::min(peak_, release_->cache.limit_bytes);
        }
        const std::uint64_t limit = one.memory.limit_bytes;
        const std::uint64_t peak = in_chunks(peak_);
        return limit == 0 ? peak : std::min(peak, in_chunks(limit));
    }

  private:
    void run(const std::vector<Step>& steps)
    {
        for (const Step& step : steps) {
            std::visit([this](const auto& operation) { apply(operation); }, step.operation);
        }
    }

    void apply(const AllocStep& step)
    {
        const std::uint64_t each = served_bytes(pool_, array_bytes(step).value_or(UINT64_MAX));
        bind(step.as, each, saturating_mul(each, step.count));
    }

    void apply(const AllocFreeStep& step)
    {
        const std::uint64_t each = served_bytes(pool_, step.bytes);
        take_idle(each, each);
        hold_during_step(each);
        keep_idle(each, each);
    }

    void apply(const BinaryStep& step) { bind(step.as, largest_, held_[step.left]); }

    // The inputs stay; every call makes a result and drops it.
    void apply(const ConcatStep& step)
    {
        const ConcatCase& what = *step.what;
        const std::string inputs{what.label};
        if (held_[inputs] == 0) {
            held_[inputs] = saturating_add(what.held_bytes(), what.scrap_bytes());
            raise_peak();
            held_[inputs] = what.held_bytes();
            release(what.scrap_bytes());
        }
        if (!what.out) {
            largest_ = std::max(largest_, what.result_bytes());
            hold_during_step(what.result_bytes());
            release(saturating_mul(what.result_bytes(), step.warmup + step.calls));
        }
    }

    // A view keeps all of what it looks at alive, whatever becomes of the other name.
    void apply(const ViewStep& step) { bind(step.as, largest_, held_[step.of]); }

    void apply(const DropStep& step)
    {
        const std::uint64_t bytes = std::exchange(held_[step.target], 0);
        keep_idle(each_[step.target], bytes);
        release(bytes);
    }

    void apply(const CollectStep& /*step*/)
    {
        if (family_of(release_->mode) == ModeFamily::leak) {
            return;
        }
        queued_ = saturating_add(queued_, unreachable_);
        unreachable_ = 0;
    }

    void apply(const DrainStep& /*step*/) { queued_ = 0; }
    template <typename Step>
        requires(Step::holds_nothing)
    void apply(const Step& /*step*/)
    {
    }

    void apply(const PurgeStep& /*step*/) { idle_in_pool_.clear(); }

    // What a stream of a file holds: the chunk in use, and those ahead.
    void apply(const StreamStep& step)
    {
        if (in_file_) {
            const std::uint64_t chunks = saturating_add(step.ahead, 1);
            streamed_ = std::max(streamed_, step.drop_behind ? saturating_mul(step.chunk_bytes, chunks) : 0);
            raise_peak();
        }
    }

    void apply(const ShareStep& step) { hold_during_step(step.bytes); }

    // Both ends of every transfer and the slots that it may take.
    void apply(const TransferStep& step) { hold_during_step(host_bytes(step)); }

    // Every thread as one alone, all at their peaks at once.
    void apply(const ParallelStep& step)
    {
        Ledger one{*release_};
        const std::uint64_t each = one.peak_of(step.steps, pool_);
        hold_during_step(saturating_mul(each, step.threads));
        unreachable_ = saturating_add(unreachable_, saturating_mul(one.floating(), step.threads));
        bound_unreachable();
    }

    // What the trace frees may float as long as the release mode lets it.
    void apply(const ReplayStep& step)
    {
        largest_ = std::max(largest_, step.largest_block_bytes);
        hold_during_step(step.peak_live_bytes);
        release(step.bytes_allocated);
    }

    // Names that end with the scope are dropped; an arena's memory goes back. An exception may leave it earlier.
    void apply(const ScopeStep& step)
    {
        const auto before = held_;
        const std::uint64_t floating_before = unreachable_;
        run(step.steps);
        for (auto& [name, bytes] : held_) {
            if (!before.contains(name)) {
                release(std::exchange(bytes, 0));
            }
        }
        if (is_arena() && !throws_) {
            unreachable_ = std::min(unreachable_, floating_before);
        }
    }

    // Two turns of the loop show how much it grows per turn; the rest is that growth again.
    void apply(const RepeatStep& step)
    {
        if (step.times == 0) {
            return;
        }
        run(step.steps);
        if (step.times == 1) {
            return;
        }
        const std::uint64_t before = floating();
        run(step.steps);
        const std::uint64_t growth = floating() > before ? floating() - before : 0;
        unreachable_ = saturating_add(unreachable_, saturating_mul(growth, step.times - 2));
        bound_unreachable();
        raise_peak();
    }

    void hold_during_step(std::uint64_t bytes)
    {
        std::uint64_t& held = held_["the step"];  // no array can have this name
        held = bytes;
        raise_peak();
        held = 0;
    }

    void bind(const std::string& name, std::uint64_t each, std::uint64_t bytes)
    {
        largest_ = std::max(largest_, each);
        const std::uint64_t old = held_[name];
        take_idle(each, bytes);
        held_[name] = saturating_add(old, bytes);  // new arrays are made before the old ones go
        raise_peak();
        held_[name] = bytes;
        keep_idle(std::exchange(each_[name], each), old);
        release(old);
    }

    // What a pool of classes keeps of one class serves that class alone; ranges serve any size.
    void keep_idle(std::uint64_t each, std::uint64_t bytes)
    {
        if (pool_.kind == PoolKind::classes && each <= pool_.largest && !delays()) {
            std::uint64_t& idle = idle_in_pool_[each];
            idle = std::min(saturating_add(idle, bytes), saturating_add(pool_.limit_bytes, pool_.depot_bytes));
        }
    }

    void take_idle(std::uint64_t each, std::uint64_t bytes)
    {
        if (const auto found = idle_in_pool_.find(each); found != idle_in_pool_.end()) {
            found->second -= std::min(found->second, bytes);
        }
    }

    // Pools of ranges ask for a chunk at a time.
    [[nodiscard]] std::uint64_t in_chunks(std::uint64_t bytes) const
    {
        const bool ranges = pool_.kind == PoolKind::best_fit || pool_.kind == PoolKind::tlsf;
        if (!ranges || bytes == 0 || pool_.chunk_bytes == 0) {
            return bytes;
        }
        const std::uint64_t chunks = (bytes - 1) / pool_.chunk_bytes + 1;
        return saturating_mul(chunks, pool_.chunk_bytes);
    }

    void release(std::uint64_t bytes)
    {
        if (delays()) {
            unreachable_ = saturating_add(unreachable_, bytes);
            bound_unreachable();
        }
        raise_peak();
    }

    // The managed bytes that count against a budget, for each array; 0 when there is no budget.
    [[nodiscard]] std::uint64_t managed_bytes_per_array() const
    {
        const ManagedBudget& managed = release_->managed;
        const bool large = managed.large_from != 0 && managed.garbage >= managed.large_from;
        if (large ? managed.large == 0 : managed.steady == 0) {
            return 0;
        }
        return large ? managed.garbage : saturating_add(managed.bytes_per_array, managed.garbage);
    }

    [[nodiscard]] bool is_arena() const { return family_of(release_->mode) == ModeFamily::arena; }

    [[nodiscard]] bool keeps() const
    {
        return family_of(release_->mode) == ModeFamily::cache && release_->mode != ReleaseMode::forward;
    }

    // Whether what is dropped may stay for a while. Manual frees are counted on only where nothing can skip them.
    [[nodiscard]] bool delays() const
    {
        switch (family_of(release_->mode)) {
        case ModeFamily::immediate:
        case ModeFamily::cache:
        case ModeFamily::stack:
            return false;
        case ModeFamily::counted:
            return frees_manually(*release_) && (throws_ || release_->safety.ignore_manual_free);
        case ModeFamily::manual:
            return throws_ || release_->free_fraction < 1 || release_->safety.ignore_manual_free;
        case ModeFamily::collected:
        case ModeFamily::arena:
        case ModeFamily::batch:
        case ModeFamily::leak:
            break;
        }
        return true;
    }

    // What the mode's own trigger never lets pile up further. An ungated finalizer may lag by about as much again.
    void bound_unreachable()
    {
        std::uint64_t arrays = 0;
        if (release_->mode == ReleaseMode::deferred_batch) {
            arrays = release_->batch;
        } else if (is_collected(*release_) && release_->collect_every != 0) {
            arrays = saturating_mul(release_->collect_every, release_->gated ? 1 : 2);
        } else if (is_collected(*release_) && managed_bytes_per_array() != 0) {
            const ManagedBudget& managed = release_->managed;
            const std::uint64_t budget = std::max({managed.steady, managed.first, managed.second, managed.large});
            arrays = saturating_mul(budget / managed_bytes_per_array() + 1, 2);
        }
        if (is_collected(*release_) && release_->pressure.rule == PressureRule::coreclr) {
            unreachable_ = std::min(unreachable_, pressed_bytes());
        }
        if (arrays != 0) {
            unreachable_ = std::min(unreachable_, saturating_mul(arrays, largest_));
        }
        if (release_->cap.bytes != 0 && is_collected(*release_)) {
            unreachable_ = std::min(unreachable_, release_->cap.bytes);
        }
    }

    // The array that exceeds the largest budget asks for a collection; the finalizer may lag by as much again.
    [[nodiscard]] std::uint64_t pressed_bytes() const
    {
        const Pressure& pressure = release_->pressure;
        const auto raised = static_cast<std::uint64_t>(static_cast<double>(pressure.min_budget) * pressure.max_ratio);
        const auto share = static_cast<std::uint64_t>(static_cast<double>(pressure.managed_heap) * pressure.heap_share);
        return saturating_mul(2, saturating_add(std::max(raised, share), largest_));
    }

    [[nodiscard]] std::uint64_t floating() const { return saturating_add(unreachable_, queued_); }

    void raise_peak()
    {
        if (in_file_) {  // the kernel takes pages of files back when memory runs short
            peak_ = std::max(peak_, streamed_);
            return;
        }
        std::uint64_t now = saturating_add(floating(), idle_);
        for (const auto& [each, bytes] : idle_in_pool_) {
            now = saturating_add(now, bytes);
        }
        for (const auto& [name, bytes] : held_) {
            now = saturating_add(now, bytes);
        }
        peak_ = std::max(peak_, now);
    }

    const ReleaseSpec* release_;
    bool throws_{};
    PoolSpec pool_;
    bool in_file_{};            // memory of files, which counts only as far as a stream keeps it
    std::uint64_t streamed_{};  // that a stream needs at a time
    std::map<std::string, std::uint64_t> held_;
    std::map<std::string, std::uint64_t> each_;            // for each array, as a pool serves it
    std::map<std::uint64_t, std::uint64_t> idle_in_pool_;  // by the size of its blocks
    std::uint64_t largest_{};
    std::uint64_t unreachable_{};
    std::uint64_t queued_{};
    std::uint64_t idle_{};  // kept by a pool from earlier cases
    std::uint64_t peak_{};
};

}  // namespace

std::uint64_t estimated_peak_bytes(const Case& plan_case)
{
    Ledger ledger{plan_case.release};
    return ledger.run_case(plan_case);
}

std::vector<std::uint64_t> estimated_peaks_bytes(const std::vector<Case>& cases, std::uint64_t budget_bytes)
{
    std::vector<std::uint64_t> peaks(cases.size());
    for (const auto& sweep : sweeps(cases)) {
        Ledger ledger{cases[sweep.front()].release};
        for (const std::size_t index : sweep) {
            Ledger after = ledger;
            peaks[index] = after.run_case(cases[index]);
            if (budget_bytes == 0 || peaks[index] <= budget_bytes) {
                ledger = std::move(after);
            }
        }
    }
    return peaks;
}

namespace {

std::uint64_t written_bytes(const std::vector<Step>& steps, std::map<std::string, std::uint64_t>& held)
{
    std::uint64_t total = 0;
    for (const Step& step : steps) {
        std::uint64_t written = 0;
        if (const auto* alloc = std::get_if<AllocStep>(&step.operation)) {
            held[alloc->as] = saturating_mul(array_bytes(*alloc).value_or(UINT64_MAX), alloc->count);
            written = alloc->touch == Touch::none ? 0 : held[alloc->as];
        } else if (const auto* write = std::get_if<WriteStep>(&step.operation)) {
            written = held[write->target];
        } else if (const auto* binary = std::get_if<BinaryStep>(&step.operation)) {
            written = held[binary->as] = held[binary->left];
        } else if (const auto* concat = std::get_if<ConcatStep>(&step.operation)) {
            written = saturating_mul(concat->what->result_bytes(), concat->warmup + concat->calls);
        } else if (const auto* view = std::get_if<ViewStep>(&step.operation)) {
            held[view->as] = held[view->of];
            written = view->copy ? held[view->as] : 0;
        } else if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            written = saturating_mul(inner.times, written_bytes(*inner.steps, held));
        }
        total = saturating_add(total, written);
    }
    return total;
}

template <typename Operation>
bool holds(const std::vector<Step>& steps)
{
    return std::ranges::any_of(steps, [](const Step& step) {
        const Nested inner = nested(step.operation);
        return std::holds_alternative<Operation>(step.operation) ||
               (inner.steps != nullptr && holds<Operation>(*inner.steps));
    });
}

}  // namespace

double idle_seconds(const std::vector<Step>& steps)
{
    double total = 0;
    for (const Step& step : steps) {
        if (const auto* idle = std::get_if<IdleStep>(&step.operation)) {
            total += std::chrono::duration<double>(idle->duration).count();
        } else if (const auto* replay = std::get_if<ReplayStep>(&step.operation)) {
            total += replay->latency ? 0 : std::chrono::duration<double>(replay->settle).count();
        } else if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            total += static_cast<double>(inner.times) * idle_seconds(*inner.steps);
        }
    }
    return total;
}

bool replays_or_transfers(const std::vector<Step>& steps)
{
    return holds<ReplayStep>(steps) || holds<TransferStep>(steps);
}

std::uint64_t written_bytes(const std::vector<Step>& steps)
{
    std::map<std::string, std::uint64_t> held;
    return written_bytes(steps, held);
}

}  // namespace memsweep::model
