// What a case will need, found by running its steps over byte counts instead of memory.
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/plan.hpp"

namespace memsweep::model {
namespace {

using base::saturating_add;
using base::saturating_mul;

class Ledger {
  public:
    Ledger(const ReleaseSpec& release, bool throws) : release_{release}, throws_{throws} {}

    void run(const std::vector<Step>& steps)
    {
        for (const Step& step : steps) {
            std::visit([this](const auto& operation) { apply(operation); }, step.operation);
        }
    }

    [[nodiscard]] std::uint64_t peak() const { return peak_; }

  private:
    void apply(const AllocStep& step)
    {
        const std::uint64_t each = array_bytes(step).value_or(UINT64_MAX);
        bind(step.as, each, saturating_mul(each, step.count));
    }

    void apply(const BinaryStep& step) { bind(step.as, largest_, held_[step.left]); }

    void apply(const DropStep& step) { release(std::exchange(held_[step.target], 0)); }

    void apply(const CollectStep& /*step*/)
    {
        queued_ = saturating_add(queued_, unreachable_);
        unreachable_ = 0;
    }

    void apply(const DrainStep& /*step*/) { queued_ = 0; }
    void apply(const WriteStep& /*step*/) {}
    void apply(const ReadStep& /*step*/) {}
    void apply(const FreeStep& /*step*/) {}
    void apply(const ReleaseStep& /*step*/) {}
    void apply(const ThrowStep& /*step*/) {}
    void apply(const SampleStep& /*step*/) {}
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
        const ManagedBudget& managed = release_.managed;
        const bool large = managed.large_from != 0 && managed.garbage >= managed.large_from;
        if (large ? managed.large == 0 : managed.steady == 0) {
            return 0;
        }
        return large ? managed.garbage : saturating_add(managed.bytes_per_array, managed.garbage);
    }

    [[nodiscard]] bool is_arena() const
    {
        return release_.mode == ReleaseMode::arena || release_.mode == ReleaseMode::arena_autoscale ||
               release_.mode == ReleaseMode::arena_checked;
    }

    // Whether what is dropped may stay for a while. Manual frees are counted on only where nothing can skip them.
    [[nodiscard]] bool delays() const
    {
        switch (release_.mode) {
        case ReleaseMode::immediate:
        case ReleaseMode::pool:
        case ReleaseMode::preallocated:
        case ReleaseMode::tls_cache:
        case ReleaseMode::forward:
        case ReleaseMode::stack:
            return false;
        case ReleaseMode::refcount:
            return frees_manually(release_) && (throws_ || release_.safety.ignore_manual_free);
        case ReleaseMode::explicit_free:
        case ReleaseMode::must_free:
        case ReleaseMode::unsafe_free:
        case ReleaseMode::finalize_now:
            return throws_ || release_.free_fraction < 1 || release_.safety.ignore_manual_free;
        default:
            return true;
        }
    }

    // What the mode's own trigger never lets pile up further. An ungated finalizer may lag by about as much again.
    void bound_unreachable()
    {
        std::uint64_t arrays = 0;
        if (release_.mode == ReleaseMode::deferred_batch) {
            arrays = release_.batch;
        } else if (is_collected(release_) && release_.collect_every != 0) {
            arrays = saturating_mul(release_.collect_every, release_.gated ? 1 : 2);
        } else if (is_collected(release_) && managed_bytes_per_array() != 0) {
            const ManagedBudget& managed = release_.managed;
            const std::uint64_t budget = std::max({managed.steady, managed.first, managed.second, managed.large});
            arrays = saturating_mul(budget / managed_bytes_per_array() + 1, 2);
        }
        if (arrays != 0) {
            unreachable_ = std::min(unreachable_, saturating_mul(arrays, largest_));
        }
        if (release_.cap.bytes != 0 && is_collected(release_)) {
            unreachable_ = std::min(unreachable_, release_.cap.bytes);
        }
    }

    [[nodiscard]] std::uint64_t floating() const { return saturating_add(unreachable_, queued_); }

    void raise_peak()
    {
        std::uint64_t now = floating();
        for (const auto& [name, bytes] : held_) {
            now = saturating_add(now, bytes);
        }
        peak_ = std::max(peak_, now);
    }

    const ReleaseSpec& release_;
    bool throws_;
    std::map<std::string, std::uint64_t> held_;
    std::uint64_t largest_{};
    std::uint64_t unreachable_{};
    std::uint64_t queued_{};
    std::uint64_t peak_{};
};

bool throws(const std::vector<Step>& steps)
{
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        const Nested inner = nested(step.operation);
        return std::holds_alternative<ThrowStep>(step.operation) || (inner.steps != nullptr && throws(*inner.steps));
    });
}

}  // namespace

std::uint64_t estimated_peak_bytes(const Case& plan_case)
{
    if (plan_case.memory.resource == ResourceKind::null) {
        return 0;
    }
    Ledger ledger{plan_case.release, throws(plan_case.steps)};
    ledger.run(plan_case.steps);
    const std::uint64_t limit = plan_case.memory.limit_bytes;
    return limit == 0 ? ledger.peak() : std::min(ledger.peak(), limit);
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
