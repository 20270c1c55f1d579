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
    explicit Ledger(const ReleaseSpec& release) : release_{release} {}

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
    void apply(const SampleStep& /*step*/) {}
    void apply(const IdleStep& /*step*/) {}

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
        if (release_.mode != ReleaseMode::refcount) {
            unreachable_ = saturating_add(unreachable_, bytes);
            bound_unreachable();
        }
        raise_peak();
    }

    // What the mode's own trigger never lets pile up further. An ungated finalizer may lag by about as much again.
    void bound_unreachable()
    {
        std::uint64_t arrays = 0;
        if (release_.mode == ReleaseMode::deferred_batch) {
            arrays = release_.batch;
        } else if (release_.mode == ReleaseMode::finalizer && release_.collect_every != 0) {
            arrays = saturating_mul(release_.collect_every, release_.gated ? 1 : 2);
        }
        if (arrays != 0) {
            unreachable_ = std::min(unreachable_, saturating_mul(arrays, largest_));
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
    std::map<std::string, std::uint64_t> held_;
    std::uint64_t largest_{};
    std::uint64_t unreachable_{};
    std::uint64_t queued_{};
    std::uint64_t peak_{};
};

}  // namespace

std::uint64_t estimated_peak_bytes(const Case& plan_case)
{
    if (plan_case.memory.resource == ResourceKind::null) {
        return 0;
    }
    Ledger ledger{plan_case.release};
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
        } else if (const auto* repeat = std::get_if<RepeatStep>(&step.operation)) {
            written = saturating_mul(repeat->times, written_bytes(repeat->steps, held));
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
