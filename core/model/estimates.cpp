// What a case will need, found by running its steps over byte counts instead of memory.
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"
#include "core/model/plan.hpp"

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

    // One repetition of a case, after others in the same worker: its peak. Names end with it.
    std::uint64_t run_case(const Case& one)
    {
        if (one.memory.resource == ResourceKind::null) {
            return 0;
        }
        throws_ = throws(one.steps);
        peak_ = 0;
        if (one.placement == Placement::drain) {
            apply(CollectStep{});
            apply(DrainStep{});
        }
        raise_peak();
        run(one.steps);
        for (auto& [name, bytes] : held_) {
            release(std::exchange(bytes, 0));
        }
        if (keeps()) {
            idle_ = std::min(peak_, release_->cache.limit_bytes);
        }
        const std::uint64_t limit = one.memory.limit_bytes;
        return limit == 0 ? peak_ : std::min(peak_, limit);
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
        const std::uint64_t each = array_bytes(step).value_or(UINT64_MAX);
        bind(step.as, each, saturating_mul(each, step.count));
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
            const std::string result = inputs + " result";
            held_[result] = what.result_bytes();
            raise_peak();
            held_[result] = 0;
            release(saturating_mul(what.result_bytes(), step.warmup + step.calls));
        }
    }

    // A view keeps all of what it looks at alive, whatever becomes of the other name.
    void apply(const ViewStep& step) { bind(step.as, largest_, held_[step.of]); }

    void apply(const DropStep& step) { release(std::exchange(held_[step.target], 0)); }

    void apply(const CollectStep& /*step*/)
    {
        if (release_->mode == ReleaseMode::leak) {
            return;
        }
        queued_ = saturating_add(queued_, unreachable_);
        unreachable_ = 0;
    }

    void apply(const DrainStep& /*step*/) { queued_ = 0; }
    void apply(const WriteStep& /*step*/) {}
    void apply(const ReadStep& /*step*/) {}
    void apply(const FreeStep& /*step*/) {}
    void apply(const ReleaseStep& /*step*/) {}
    void apply(const ThrowStep& /*step*/) {}
    void apply(const TrimStep& /*step*/) {}
    void apply(const SampleStep& /*step*/) {}
    void apply(const PurgeStep& /*step*/) {}

    // What the trace frees may float as long as the release mode lets it.
    void apply(const ReplayStep& step)
    {
        const std::string name = "replay of " + step.trace;
        largest_ = std::max(largest_, step.largest_block_bytes);
        held_[name] = step.peak_live_bytes;
        raise_peak();
        held_[name] = 0;
        release(step.bytes_allocated);
    }
    void apply(const IdleStep& /*step*/) {}

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

    void bind(const std::string& name, std::uint64_t each, std::uint64_t bytes)
    {
        largest_ = std::max(largest_, each);
        const std::uint64_t old = held_[name];
        held_[name] = saturating_add(old, bytes);  // new arrays are made before the old ones go
        raise_peak();
        held_[name] = bytes;
        release(old);
    }

    void release(std::uint64_t bytes)
    {
        if (delays()) {
            unreachable_ = saturating_add(unreachable_, bytes);
            bound_unreachable();
        }
        raise_peak();
    }

    // Of what a budget bounds; 0 when none does.
    [[nodiscard]] std::uint64_t managed_bytes_per_array() const
    {
        const ManagedBudget& managed = release_->managed;
        const bool large = managed.large_from != 0 && managed.garbage >= managed.large_from;
        if (large ? managed.large == 0 : managed.steady == 0) {
            return 0;
        }
        return large ? managed.garbage : saturating_add(managed.bytes_per_array, managed.garbage);
    }

    [[nodiscard]] bool is_arena() const
    {
        return release_->mode == ReleaseMode::arena || release_->mode == ReleaseMode::arena_autoscale ||
               release_->mode == ReleaseMode::arena_checked;
    }

    [[nodiscard]] bool keeps() const
    {
        return release_->mode == ReleaseMode::pool || release_->mode == ReleaseMode::tls_cache ||
               release_->mode == ReleaseMode::preallocated;
    }

    // Whether what is dropped may stay for a while. Manual frees are counted on only where nothing can skip them.
    [[nodiscard]] bool delays() const
    {
        switch (release_->mode) {
        case ReleaseMode::immediate:
        case ReleaseMode::pool:
        case ReleaseMode::preallocated:
        case ReleaseMode::tls_cache:
        case ReleaseMode::forward:
        case ReleaseMode::stack:
            return false;
        case ReleaseMode::refcount:
            return frees_manually(*release_) && (throws_ || release_->safety.ignore_manual_free);
        case ReleaseMode::explicit_free:
        case ReleaseMode::must_free:
        case ReleaseMode::unsafe_free:
        case ReleaseMode::finalize_now:
            return throws_ || release_->free_fraction < 1 || release_->safety.ignore_manual_free;
        default:
            return true;
        }
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
        std::uint64_t now = saturating_add(floating(), idle_);
        for (const auto& [name, bytes] : held_) {
            now = saturating_add(now, bytes);
        }
        peak_ = std::max(peak_, now);
    }

    const ReleaseSpec* release_;
    bool throws_{};
    std::map<std::string, std::uint64_t> held_;
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

}  // namespace

std::uint64_t written_bytes(const std::vector<Step>& steps)
{
    std::map<std::string, std::uint64_t> held;
    return written_bytes(steps, held);
}

}  // namespace memsweep::model
