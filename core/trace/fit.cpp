#include "core/trace/fit.hpp"

#include <algorithm>
#include <array>

#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

constexpr std::array policies{
    PlacementPolicy{"first_fit", "the lowest hole that fits", false, make_first_fit},
    PlacementPolicy{"best_fit", "the smallest hole that fits, of equal ones the lowest", false, make_best_fit},
    PlacementPolicy{"tlsf", "two-level segregated fit", false, make_tlsf},
    PlacementPolicy{"rmm_pool", "RMM's pool: best fit, growth by half of what is left, 256 bytes", true, make_rmm_pool},
    PlacementPolicy{"pytorch", "PyTorch's caching allocator, segments of 2 and 20 MiB, kept", false, make_pytorch},
    PlacementPolicy{"buddy", "binary buddies", false, make_buddy},
    PlacementPolicy{"pow2", "a list per power of two", false, make_pow2},
    PlacementPolicy{"quad", "a list per class, four classes per doubling", false, make_quad},
};

constexpr std::uint64_t largest_live_peak = 1ULL << 56U;  // beyond it sums would wrap, and no machine has it

class Compiler {
  public:
    explicit Compiler(PlacementOps& into) : into_{&into} {}

    void add(const Event& event)
    {
        if (event.kind == EventKind::define_space) {
            into_->on_device = into_->on_device || event.space_kind == SpaceKind::device;
            return;
        }
        ++number_;
        if (is_allocation(event.kind)) {
            allocate(event);
        } else if (event.kind == EventKind::free) {
            release(event, event.address);
        } else if (event.kind == EventKind::realloc) {
            release(event, event.old_address);
            if (event.address != 0) {
                allocate(event);
            }
        } else if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            live_.remove_process(event.process, [this](const BlockKey&, const LiveBlock& block) { put_free(block); });
        }
    }
    void finish() { into_->end_live_blocks = live_.count(); }

  private:
    void allocate(const Event& event)
    {
        const std::uint32_t block = new_block();
        if (const auto replaced = live_.insert({event.address, event.process, event.space}, {event.size, block})) {
            put_free(*replaced);
        }
        live_bytes_ += event.size;
        into_->live_peak = std::max(into_->live_peak, live_bytes_);
        into_->ops.push_back({event.size, block, false});
        into_->events.push_back(number_);
    }
    void release(const Event& event, std::uint64_t address)
    {
        if (const auto block = live_.remove({address, event.process, event.space})) {
            put_free(*block);
        }
    }
    void put_free(const LiveBlock& block)
    {
        live_bytes_ -= block.size;
        into_->ops.push_back({block.size, block.tag, true});
        into_->events.push_back(number_);
        unused_.push_back(block.tag);
    }
    std::uint32_t new_block()
    {
        if (unused_.empty()) {
            return blocks_++;
        }
        const std::uint32_t block = unused_.back();
        unused_.pop_back();
        return block;
    }

    PlacementOps* into_;
    LiveBlocks live_;
    std::vector<std::uint32_t> unused_;
    std::uint32_t blocks_{};
    std::uint64_t number_{};
    std::uint64_t live_bytes_{};
};

// One placement's way through the operations.
class Walk {
  public:
    Walk(const PlacementOps& ops, Placement& placement) : ops_{&ops}, placement_{&placement} {}

    // False where something did not fit: failure() says what.
    bool run()
    {
        ++run_;
        for (std::size_t i = 0; i < ops_->ops.size(); ++i) {
            const PlacementOps::Op& op = ops_->ops[i];
            if (op.is_free) {
                placement_->release(op.block);
                live_bytes_ -= op.size;
            } else if (placement_->place(op.block, op.size)) {
                if (placement_->needed() > needed_) {
                    needed_ = placement_->needed();
                    grew_ = {ops_->events[i], op.size, live_bytes_, 0, run_};
                }
                live_bytes_ += op.size;
            } else {
                failure_ = {ops_->events[i], op.size, live_bytes_, placement_->largest_hole(), run_};
                return false;
            }
        }
        return true;
    }
    // Frees what a run has left, so that the next one can begin.
    void end_run()
    {
        std::vector<bool> is_live;
        std::vector<std::uint64_t> sizes;
        for (const PlacementOps::Op& op : ops_->ops) {
            if (op.block >= is_live.size()) {
                is_live.resize(std::size_t{op.block} + 1);
                sizes.resize(is_live.size());
            }
            is_live[op.block] = !op.is_free;
            sizes[op.block] = op.size;
        }
        for (std::uint32_t block = 0; block < is_live.size(); ++block) {
            if (is_live[block]) {
                placement_->release(block);
                live_bytes_ -= sizes[block];
            }
        }
    }
    [[nodiscard]] const FitFailure& failure() const { return failure_; }
    // What needs all of the capacity, as it would fail in one byte less.
    [[nodiscard]] std::optional<FitFailure> failure_in_less() const
    {
        const auto growth = placement_->last_growth();
        if (!growth) {
            return std::nullopt;
        }
        FitFailure failure = grew_;
        failure.largest_hole = std::max(growth->largest_hole, needed_ - 1 - growth->end);
        return failure;
    }

  private:
    const PlacementOps* ops_;
    Placement* placement_;
    FitFailure failure_;
    FitFailure grew_;         // what last needed more than all before
    std::uint64_t needed_{};  // by then
    std::uint64_t live_bytes_{};
    std::uint64_t run_{};
};

// What an unbounded arena grew to is what it needs.
void measure_growth(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options,
                    PolicyFit& result)
{
    const auto placement = policy.make(unbounded, options.alignment);
    Walk walk{ops, *placement};
    for (std::uint64_t run = 1; run <= options.runs; ++run) {
        static_cast<void>(walk.run());
        result.needed_after_run.push_back(placement->needed());
        if (run < options.runs) {
            walk.end_run();
        }
    }
    result.capacity = placement->needed();
    if (!options.capacity) {
        result.first_failure = walk.failure_in_less();
    }
}

// A capacity that suffices while one less does not, of those that a search by halving meets.
std::uint64_t search(const PlacementOps& ops, const PlacementPolicy& policy, FitOptions options, std::uint64_t runs)
{
    options.runs = runs;
    constexpr std::uint64_t unit = 256;
    const auto suffices = [&](std::uint64_t units) { return !first_failure(ops, policy, units * unit, options); };
    std::uint64_t low = ops.live_peak / unit;  // holds less than the blocks themselves, or just them
    if (low > 0) {
        --low;
    }
    std::uint64_t high = ops.live_peak / unit + 1;
    while (!suffices(high)) {
        low = high;
        high += high / 4 + 1;
    }
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return high * unit;
}

}  // namespace

std::span<const PlacementPolicy> placement_policies()
{
    return policies;
}

PlacementOps placement_ops(TraceReader& reader)
{
    PlacementOps ops;
    Compiler compiler{ops};
    Event event;
    while (reader.next(event)) {
        compiler.add(event);
    }
    compiler.finish();
    return ops;
}

std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy, std::uint64_t capacity,
                                        const FitOptions& options)
{
    const auto placement = policy.make(capacity, options.alignment);
    Walk walk{ops, *placement};
    for (std::uint64_t run = 1; run <= options.runs; ++run) {
        if (!walk.run()) {
            return walk.failure();
        }
        if (run < options.runs) {
            walk.end_run();
        }
    }
    return std::nullopt;
}

PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options)
{
    PolicyFit result;
    result.policy = policy.name;
    if (ops.live_peak == 0 || ops.live_peak > largest_live_peak) {
        return result;
    }
    if (policy.depends_on_capacity) {
        for (std::uint64_t run = 1; run <= options.runs; ++run) {
            result.needed_after_run.push_back(search(ops, policy, options, run));
        }
        result.capacity = result.needed_after_run.back();
    } else {
        measure_growth(ops, policy, options, result);
    }
    result.ratio = static_cast<double>(result.capacity) / static_cast<double>(ops.live_peak);
    if (!result.first_failure) {
        result.first_failure = first_failure(ops, policy, options.capacity.value_or(result.capacity - 1), options);
    }
    return result;
}

}  // namespace memsweep::trace
