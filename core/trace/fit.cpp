#include "core/trace/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_live_peak = 1ULL << 56U;  // beyond it sums would wrap, and no machine has it

// Runs the operations through a placement.
class PlacementRun {
  public:
    PlacementRun(const PlacementOps& ops, Placement& placement) : ops_{&ops}, placement_{&placement} {}

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
    // Frees what a run has left live, so that the next one can begin.
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
    // The operation that needs all of the capacity, as it would fail with one byte less.
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
    FitFailure grew_;         // the last placement that needed more than all before
    std::uint64_t needed_{};  // after it
    std::uint64_t live_bytes_{};
    std::uint64_t run_{};
};

// What an unbounded arena grew to is what it needs.
void measure_growth(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options,
                    PolicyFit& result)
{
    const auto placement = policy.make(unbounded, options.alignment);
    PlacementRun walk{ops, *placement};
    for (std::uint64_t run = 1; run <= options.runs; ++run) {
        if (!walk.run()) {
            result.needed_after_run.clear();
            result.impossible_event = walk.failure().event;
            return;
        }
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

// A capacity that suffices while one unit less does not, found by bisection; nullopt where none does.
std::optional<std::uint64_t> search(const PlacementOps& ops, const PlacementPolicy& policy, FitOptions options,
                                    std::uint64_t runs)
{
    options.runs = runs;
    constexpr std::uint64_t unit = 256;
    constexpr std::uint64_t max_units = (1ULL << 62U) / unit;
    const auto suffices = [&](std::uint64_t units) { return !first_failure(ops, policy, units * unit, options); };
    std::uint64_t low = ops.live_peak / unit;  // the blocks alone, or less
    if (low > 0) {
        --low;
    }
    std::uint64_t high = ops.live_peak / unit + 1;
    while (!suffices(high)) {
        if (high > max_units) {
            return std::nullopt;
        }
        low = high;
        high += high / 4 + 1;
    }
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return high * unit;
}

struct Rectangle {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t born{};  // operation
};

// A stretch of cells, [begin, end), and how much of each it covers.
struct Cover {
    double begin{};
    double end{};
    [[nodiscard]] double of(std::size_t cell) const
    {
        const auto at = static_cast<double>(cell);
        return std::max(0.0, std::min(end, at + 1) - std::max(begin, at));
    }
    [[nodiscard]] std::size_t first() const { return static_cast<std::size_t>(begin); }
    [[nodiscard]] std::size_t last(std::size_t cells) const
    {
        return std::min(cells, static_cast<std::size_t>(std::ceil(end)));
    }
};

class Painter {
  public:
    explicit Painter(AddressPicture& picture) : picture_{&picture} {}

    void add(const Rectangle& block, std::uint64_t died)
    {
        const Cover time = cover(block.born, died, picture_->operations, picture_->columns);
        const Cover place = cover(block.address, block.address + block.size, picture_->bytes, picture_->rows);
        for (std::size_t column = time.first(); column < time.last(picture_->columns); ++column) {
            const double share = time.of(column);
            for (std::size_t row = place.first(); row < place.last(picture_->rows); ++row) {
                picture_->taken[column * picture_->rows + row] += static_cast<float>(share * place.of(row));
            }
        }
    }

  private:
    static Cover cover(std::uint64_t begin, std::uint64_t end, std::uint64_t whole, std::size_t cells)
    {
        const double scale = static_cast<double>(cells) / static_cast<double>(whole);
        return {static_cast<double>(begin) * scale, static_cast<double>(end) * scale};
    }

    AddressPicture* picture_;
};

}  // namespace

std::span<const PlacementPolicy> placement_policies()
{
    static const std::vector<PlacementPolicy> policies = [] {
        std::vector<PlacementPolicy> all;
        std::ranges::copy(hole_policies(), std::back_inserter(all));
        std::ranges::copy(class_policies(), std::back_inserter(all));
        return all;
    }();
    return policies;
}

PlacementOps placement_ops(TraceReader& reader)
{
    PlacementOps result;
    BlockWalk walk;
    std::uint64_t number = 0;
    const auto put = [&](const std::optional<LiveBlock>& block, bool is_free) {
        if (block) {
            result.ops.push_back({block->size, block->tag, is_free});
            result.events.push_back(number);
        }
    };
    Event event;
    while (reader.next(event)) {
        if (event.kind == EventKind::define_space) {
            result.on_device = result.on_device || event.space_kind == SpaceKind::device;
            continue;
        }
        ++number;
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            walk.end_process(event.process, [&](const LiveBlock& block) { put(block, true); });
            continue;
        }
        const BlockWalk::Change change = walk.add(event);
        if (change.overflows || walk.live_bytes() > max_live_peak) {
            result = {.live_peak = walk.peak_live_bytes(), .on_device = result.on_device, .impossible_event = number};
            return result;
        }
        put(change.freed, true);
        put(change.replaced, true);
        put(change.made, false);
    }
    result.live_peak = walk.peak_live_bytes();
    return result;
}

std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy, std::uint64_t capacity,
                                        const FitOptions& options)
{
    const auto placement = policy.make(capacity, options.alignment);
    PlacementRun walk{ops, *placement};
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
    if (ops.live_peak == 0 || ops.live_peak > max_live_peak) {
        return result;
    }
    if (policy.depends_on_capacity) {
        for (std::uint64_t run = 1; run <= options.runs; ++run) {
            const auto capacity = search(ops, policy, options, run);
            if (!capacity) {
                const auto failure = first_failure(ops, policy, 1ULL << 62U, options);
                result = {.policy = policy.name, .impossible_event = failure ? failure->event : ops.events.back()};
                return result;
            }
            result.needed_after_run.push_back(*capacity);
        }
        result.capacity = result.needed_after_run.back();
    } else {
        measure_growth(ops, policy, options, result);
        if (result.impossible_event != 0) {
            return result;
        }
    }
    result.ratio = static_cast<double>(result.capacity) / static_cast<double>(ops.live_peak);
    if (!result.first_failure) {
        result.first_failure = first_failure(ops, policy, options.capacity.value_or(result.capacity - 1), options);
    }
    return result;
}

std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                const FitOptions& options, std::size_t columns, std::size_t rows)
{
    const auto sized = policy.make(unbounded, options.alignment);
    for (const PlacementOps::Op& op : ops.ops) {
        if (op.is_free) {
            sized->release(op.block);
        } else if (!sized->place(op.block, op.size) || !sized->place_of(op.block)) {
            return std::nullopt;
        }
    }
    if (ops.ops.empty() || sized->needed() == 0) {
        return std::nullopt;
    }
    AddressPicture picture{.columns = columns,
                           .rows = rows,
                           .operations = ops.ops.size(),
                           .bytes = sized->needed(),
                           .taken = std::vector<float>(columns * rows),
                           .live = std::vector<std::uint64_t>(columns),
                           .high = std::vector<std::uint64_t>(columns)};
    Painter painter{picture};
    const auto placement = policy.make(unbounded, options.alignment);
    std::vector<Rectangle> blocks;
    std::uint64_t live = 0;
    for (std::uint64_t i = 0; i < ops.ops.size(); ++i) {
        const PlacementOps::Op& op = ops.ops[i];
        if (op.block >= blocks.size()) {
            blocks.resize(std::size_t{op.block} + 1);
        }
        Rectangle& block = blocks[op.block];
        if (op.is_free) {
            painter.add(block, i);
            block.size = 0;
            placement->release(op.block);
            live -= op.size;
        } else {
            static_cast<void>(placement->place(op.block, op.size));
            const Placement::Range range = *placement->place_of(op.block);
            block = {range.address, range.size, i};
            live += op.size;
        }
        const auto column = static_cast<std::size_t>(i * columns / ops.ops.size());
        picture.live[column] = std::max(picture.live[column], live);
        picture.high[column] = placement->needed();
    }
    for (const Rectangle& block : blocks) {
        if (block.size != 0) {
            painter.add(block, ops.ops.size());
        }
    }
    // Traces with fewer operations than columns leave columns without one.
    for (std::size_t column = 1; column < columns; ++column) {
        picture.high[column] = std::max(picture.high[column], picture.high[column - 1]);
    }
    return picture;
}

}  // namespace memsweep::trace
